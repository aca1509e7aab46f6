/**
 * Finds the called expression for an error that says only "not a function": reads it from the script at the
 * position in the stack.
 */

/** Matches expressions like `a.b?.c[0]` before a call. An approximation, because there is no parser. */
const CALLEE =
  /[\p{L}_$][\p{L}\p{N}_$]*(?:\s*\??\.\s*[\p{L}\p{N}_$]+|\[[^\]]{0,80}\])*(?=\s*(?:\?\.)?\s*[(`])/gu;
const FRAME = /\bcode(?:\.js)?:(\d+):(\d+)/;
const KEYWORDS: ReadonlySet<string> = new Set(["if", "for", "while", "switch", "catch", "return", "await"]);
const LONGEST = 120;

/** Returns undefined if the position is ambiguous. */
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
  const callee =
    calls.find(({ from, end }) => from <= at && at <= end) ?? (calls.length === 1 ? calls[0] : undefined);
  if (!callee) return undefined;
  // A built-in function of the engine got an argument that is not a function.
  return /^\s*at \S+ \(native\)/.test(stack) ? `an argument of ${callee.text}` : callee.text;
}
