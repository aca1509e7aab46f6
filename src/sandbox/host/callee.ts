/** What was called where the engine says only "not a function": read from the script at the place the stack names. */

/** `a.b?.c[0]`, as far as it can be told without a grammar. */
const CALLEE =
  /[\p{L}_$][\p{L}\p{N}_$]*(?:\s*\??\.\s*[\p{L}\p{N}_$]+|\[[^\]]{0,80}\])*(?=\s*(?:\?\.)?\s*[(`])/gu;
const FRAME = /\bcode(?:\.js)?:(\d+):(\d+)/;
const KEYWORDS: ReadonlySet<string> = new Set(["if", "for", "while", "switch", "catch", "return", "await"]);
const LONGEST = 120;

/** Undefined where it is not certain. */
export function calleeIn(script: string, stack: string): string | undefined {
  const [, line = "0", column = "0"] = FRAME.exec(stack) ?? [];
  const source = script.split("\n")[Number(line) - 1] ?? "";
  const calls = [...source.matchAll(CALLEE)]
    .map(({ index, 0: text }) => ({
      from: index,
      end: index + text.length,
      text: text.replaceAll(/\s+/g, ""),
    }))
    .filter(({ text }) => text.length <= LONGEST && !KEYWORDS.has(text));
  const at = Number(column) - 1;
  const there =
    calls.find(({ from, end }) => from <= at && at <= end) ?? (calls.length === 1 ? calls[0] : undefined);
  if (!there) return undefined;
  // A function of the engine itself was called with something else than a function.
  return /^\s*at \S+ \(native\)/.test(stack) ? `an argument of ${there.text}` : there.text;
}
