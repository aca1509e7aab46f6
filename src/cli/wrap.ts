/** Wraps long lines at spaces to the width of a terminal. Breaks no word. */

const STEP = 4;

/**
 * The text stays unchanged if `columns` is undefined or 0 (unknown). Continued lines start below the text of
 * their line, or at `indent`. A shell command (`$ …`) stays whole, so that it can be copied.
 */
export function wrap(text: string, columns: number | undefined, indent?: number): string {
  if (!columns) return text;
  return text
    .split("\n")
    .flatMap((line) => (/^\s*\$ /.test(line) ? [line] : wrapLine(line, columns, indent)))
    .join("\n");
}

function wrapLine(line: string, columns: number, depth: number | undefined): readonly string[] {
  const indent = " ".repeat(depth ?? indentOf(line, columns));
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const before = rest.lastIndexOf(" ", columns);
    const at = before > indent.length ? before : rest.indexOf(" ", columns);
    if (at < 0) break;
    lines.push(rest.slice(0, at).trimEnd());
    rest = indent + rest.slice(at).trimStart();
  }
  return [...lines, rest];
}

/**
 * The column where the text of a line starts. A label before a gap of two spaces is skipped. If that leaves
 * too little room, a smaller indent is used.
 */
function indentOf(line: string, columns: number): number {
  const [margin = ""] = /^ */.exec(line) ?? [];
  const [label = margin] = /^ *\S.*? {2,}/.exec(line) ?? [];
  const step = label === margin ? margin.length : margin.length + STEP;
  return [label.length, step, margin.length].find((at) => at <= 0.6 * columns) ?? 0;
}
