/** Prints the table of flags for `--help` and for the documentation. */
import { envOf, type FlagRow, flagOf, type Table } from "./command-line.ts";
import { FLAGS, flagsFor } from "./flags.ts";

/** One line per flag of a command; flags that only this command has come first. */
export function flagHelp(command: string, own: Table = {}): string {
  // A command may replace the help text of a shared flag.
  const rows = Object.entries({ ...own, ...flagsFor(command), ...own }).filter(
    ([, row]) => row.flag !== false,
  );
  const left = rows.map(([key, row]) => `  ${flagOf(key)}${placeholder(row)}`);
  const width = Math.max(...left.map((text) => text.length)) + 2;
  return rows
    .map(([, row], index) => `${left[index]?.padEnd(width)}${row.help}${defaultText(row)}`)
    .join("\n");
}

/** The common variables that have no flag. All others are in docs/settings.md. */
export function environmentHelp(): string {
  const { token, home }: Table = FLAGS;
  const rows = Object.entries({ token, home }).map(([key, row]) => `  ${envOf(key).padEnd(16)}${row?.help}`);
  return [
    ...rows,
    "  Every flag can also be set by an environment variable: METAMCP_ and its name in capitals, such as METAMCP_LOG_LEVEL. Flags win.",
  ].join("\n");
}

function placeholder(row: FlagRow): string {
  switch (row.kind) {
    case "switch":
      return "";
    case "choice":
      return ` <${row.choices.join("|")}>`;
    case "time":
      return " <time>";
    case "whole":
    case "real":
      return ` <${row.value ?? "number"}>`;
    case "text":
    case "list":
      return ` <${row.value ?? "text"}>`;
  }
}

function defaultText(row: FlagRow): string {
  return row.kind === "list" || row.default === undefined ? "" : ` [${row.default}]`;
}

/** Flags and variables as a Markdown table. */
export function settingsMarkdown(table: Table): string {
  const lines = Object.entries(table).map(([key, row]) => {
    const flag = row.flag === false ? "" : code(`${flagOf(key)}${placeholder(row)}`);
    const files = row.secret ? [`${envOf(key)}_FILE`] : [];
    const names = row.env === false ? [] : [envOf(key), ...files, ...(row.aliases ?? [])];
    const preset = row.kind === "list" || row.default === undefined ? "" : code(String(row.default));
    return `| ${flag} | ${names.map(code).join(", ")} | ${preset} | ${row.help} |`;
  });
  return ["| flag | environment | default | meaning |", "|---|---|---|---|", ...lines].join("\n");
}

/** Escapes "|", which would end the table cell. */
function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}
