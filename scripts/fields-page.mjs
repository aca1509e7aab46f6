// Writes the keys of servers into docs/config.md, from the table of server fields.

/** Which fields each table has. */
const TABLES = {
  stdio: ({ only }) => only === "stdio",
  remote: ({ only }) => only === "remote",
  all: ({ only }) => only === undefined,
};

export function withFields(page, fields) {
  const rows = Object.entries(fields).filter(([, field]) => !field.gatewayOnly);
  const tables = Object.entries(TABLES).map(([name, isWanted]) => [
    `${name} fields`,
    [
      "| key | default | meaning |",
      "|---|---|---|",
      ...rows.filter(([, one]) => isWanted(one)).map(row),
    ].join("\n"),
  ]);
  return [...tables, ["security fields", securityText(rows)]].reduce(
    (text, [mark, content]) =>
      text.replace(
        new RegExp(`<!-- ${mark} -->[\\s\\S]*<!-- /${mark} -->`),
        () => `<!-- ${mark} -->\n${content}\n<!-- /${mark} -->`,
      ),
    page,
  );
}

function row([name, { schema, preset, missing, about, more }]) {
  const value = preset ?? schema.default;
  const shown = missing ?? (value === undefined ? "" : `\`${JSON.stringify(value)}\``);
  return `| \`${name}\` | ${shown} | ${[about, more].filter(Boolean).join(" ")} |`;
}

function securityText(rows) {
  const guarding = (how) => rows.flatMap(([name, { guards }]) => (guards === how ? [`\`${name}\``] : []));
  const [named, other] = [guarding("name"), guarding("value")];
  return (
    `Invalid security settings disable the entry in every command, with the reason: a wrong value or an unknown key in ${listed([...named, ...other])}, ` +
    `and a misspelling (up to two letters) of ${listed(named)}, or a key that belongs inside one of them (\`deny\`, \`tools.deny\`). ` +
    "Other invalid settings fall back to their default with a warning."
  );
}

function listed(names) {
  return `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
