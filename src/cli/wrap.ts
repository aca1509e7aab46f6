/** Long lines broken at spaces, to the width of a terminal. Breaks no word. */

const STEP = 4;

/**
 * `columns` is undefined, or 0, where nobody knows: then all stays as it is. What is carried over stands below the text of
 * its line, or `indent` columns in. A command (`$ …`) stays whole: it is there to be copied.
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

/** Where the text begins, which may stand beside something: after a gap. Nowhere near the end of the line: then it goes a step in. */
function indentOf(line: string, columns: number): number {
  const [margin = ""] = /^ */.exec(line) ?? [];
  const [beside = margin] = /^ *\S.*? {2,}/.exec(line) ?? [];
  const step = beside === margin ? margin.length : margin.length + STEP;
  return [beside.length, step, margin.length].find((at) => at <= 0.6 * columns) ?? 0;
}
