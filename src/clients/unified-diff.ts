/** A unified diff of a file. Hides all values except those that MetaMCP writes. */

const CONTEXT = 3;

export interface FileChange {
  readonly path: string;
  /** Undefined if there is no file. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Strings that may be shown. All others belong to the user and may be secrets. */
  readonly shown: readonly string[];
}

export function unifiedDiff({ path, before, after, shown }: FileChange): string {
  const known = new Set(shown);
  const [old, now] = [linesOf(before), linesOf(after)];
  const head = commonLength(old, now);
  const tail = Math.min(
    commonLength(old.slice(head).toReversed(), now.slice(head).toReversed()),
    old.length - head,
    now.length - head,
  );
  const from = Math.max(0, head - CONTEXT);
  const trailing = Math.min(tail, CONTEXT);
  const removed = old.slice(head, old.length - tail);
  const added = now.slice(head, now.length - tail);
  const lead = old.slice(from, head);
  const rest = old.slice(old.length - tail, old.length - tail + trailing);
  const size = (changed: readonly string[]): number => lead.length + changed.length + rest.length;
  return [
    `--- ${before === undefined ? "/dev/null" : path}`,
    `+++ ${after === undefined ? "/dev/null" : path}`,
    `@@ -${range(from, size(removed))} +${range(from, size(added))} @@`,
    ...[
      ...lead.map(prefix(" ")),
      ...removed.map(prefix("-")),
      ...added.map(prefix("+")),
      ...rest.map(prefix(" ")),
    ]
      .map((line) => masked(line, known))
      .map(visible),
  ].join("\n");
}

function linesOf(text: string | undefined): readonly string[] {
  return text ? text.split(/(?<=\n)/) : [];
}

function commonLength(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((line, index) => line !== b[index]);
  return at < 0 ? a.length : at;
}

function range(from: number, size: number): string {
  return size === 0 ? `${from},0` : `${from + 1},${size}`;
}

function prefix(sign: string): (line: string) => string {
  return (line) => sign + line;
}

/**
 * A quoted string, a string that does not end on its line, a comment, or a number that is long enough to be a
 * secret.
 */
const TOKEN =
  /(?:"""|''').*|"((?:[^"\\\n]|\\.)*)"(\s*[:=])?|'([^'\n]*)'(\s*[:=])?|["'].*|(\/\/|\/\*|#).*|(?<![\w.-])-?\d[\w.+:-]{5,}(?![\w.+:-]|\s*[=\]])/g;
/** Allowed between the tokens. Anything else could be the middle of a longer string. */
const PLAIN = /\b(?:true|false|null)\b|[\w-]+(?=\s*[=.\]])|-?\b\d[\w.+:-]*/g;
const STRUCTURE = /^[\s[\]{},:=.\0]*$/;
const MAX_LINE_LENGTH = 400;

/** Keeps keys and hides values and comments. */
function masked(line: string, known: ReadonlySet<string>): string {
  const [sign, body] = [line.slice(0, 1), line.slice(1)];
  if (!STRUCTURE.test(body.replaceAll(TOKEN, "\0").replaceAll(PLAIN, ""))) return `${sign}…\n`;
  const hidden = body.replaceAll(TOKEN, (text: string, ...groups: (string | undefined)[]) => {
    const [double, colon, single, equals, comment] = groups;
    if (comment !== undefined) return `${comment} …`;
    const key = colon ?? equals;
    if (key !== undefined) return text;
    const value = double === undefined ? single : unescaped(text);
    return value !== undefined && known.has(value) ? text : '"…"';
  });
  return sign + (hidden.length > MAX_LINE_LENGTH ? `${hidden.slice(0, MAX_LINE_LENGTH)}…\n` : hidden);
}

function unescaped(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    return text.slice(1, -1);
  }
}

function visible(line: string): string {
  const bare = line.replace(/\r?\n$/, "").replaceAll(/\p{Cc}/gu, (sign) => (sign === "\t" ? sign : ""));
  return line.endsWith("\n") ? bare : `${bare}\n\\ No newline at end of file`;
}
