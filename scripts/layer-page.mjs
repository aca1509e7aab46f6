// Writes the options of every layer into docs/middleware.md, from the schemas that check them.
const BEGIN = "<!-- layers: written by node scripts/docs.mjs -->";
const END = "<!-- end of layers -->";

export function withLayers(page, kinds) {
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest.split(END);
  const sections = [...kinds].map(([use, kind]) => section(use, kind));
  return `${before}${BEGIN}\n\n${sections.join("\n\n")}\n\n${END}${after}`;
}

function section(use, { schema, summary, guards }) {
  const guarded = guards ? " Only administrators can change it." : "";
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties).map(([name, option]) =>
    row(name, option, required.has(name)),
  );
  return `### \`${use}\`\n\n${summary}${guarded}\n\n| option | value | default | meaning |\n|---|---|---|---|\n${rows.join("\n")}`;
}

function row(name, option, required) {
  const preset =
    option.default === undefined ? (required ? "required" : "") : `\`${JSON.stringify(option.default)}\``;
  return `| \`${name}\` | ${typeOf(option)} | ${preset} | ${option.description ?? ""} |`;
}

function typeOf(option) {
  if (option.enum) return option.enum.map((one) => `\`${JSON.stringify(one)}\``).join(", ");
  if (option.anyOf) return [...new Set(option.anyOf.map(typeOf))].join(" or ");
  if (option.type === "array") return `list of ${typeOf(option.items)}`;
  if (option.type === "object" && option.properties)
    return `\`{ ${Object.keys(option.properties).join(", ")} }\``;
  return { boolean: "true or false", integer: "whole number", string: "text" }[option.type] ?? option.type;
}
