// Writes the tables of docs/observability.md: all metrics, labels and audit fields, from their definitions.

const cell = (text) => text.replaceAll("|", "\\|");
const row = (...cells) => `| ${cells.join(" | ")} |`;
const tableOf = (heads, rows) => [row(...heads), row(...heads.map(() => "---")), ...rows].join("\n");
const rowsOf = (fields) => Object.entries(fields).map(([name, text]) => row(`\`${name}\``, cell(text)));

function descriptionOf(name, { description, enum: choices }) {
  const text = description ?? choices?.join(", ");
  if (text === undefined) throw new Error(`"${name}" does not say what it is`);
  return text;
}

const described = (fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, descriptionOf(name, schema)]));

/** Replaces the tables between the marks. The rest of the page is written by hand. */
export function withTables(page, { instruments, labels, record, query }) {
  const helps = Object.fromEntries(Object.entries(labels).map(([name, { help }]) => [name, help]));
  const tables = {
    metrics: tableOf(
      ["metric", "kind", "labels", "what"],
      Object.values(instruments).map(({ name, kind, labels: given, help }) =>
        row(`\`${name}\``, kind, given.map((label) => `\`${label}\``).join(", "), cell(help)),
      ),
    ),
    labels: tableOf(["label", "values"], rowsOf(helps)),
    "audit-record": tableOf(["field", "what"], rowsOf(described(record))),
    "audit-query": tableOf(["filter", "matches"], rowsOf(described(query))),
  };
  return Object.entries(tables).reduce((text, [mark, table]) => {
    const between = new RegExp(`(<!-- ${mark} -->\\n)[\\s\\S]*?(<!-- /${mark} -->)`);
    if (!between.test(text)) throw new Error(`docs/observability.md has no place for ${mark}`);
    return text.replace(between, (_, open, close) => `${open}\n${table}\n\n${close}`);
  }, page);
}
