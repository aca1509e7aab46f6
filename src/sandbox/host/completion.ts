/**
 * Wraps code with a top-level `return` in an async function that also returns the value of the last
 * expression. Has no parser: it tests whether pieces compile.
 */

type Compiles = (script: string) => boolean;

/** Start of a declaration. As an expression it would compile too, but declare nothing. */
const DECLARES = /^(?:async\s+)?(?:function|class)\b/;
/** A line that starts like this continues the statement before it, unless that ended with `;` or `}`. */
const CONTINUES = /^[([`+\-/*.,?<>=&|^%]/;
const MAX_TRIALS = 40;

export const asBody = (body: string): string => `(async () => {${body}\n})()`;

/** Returns undefined if the code does not compile as a function body either. Line numbers stay the same. */
export function asFunction(code: string, compiles: Compiles): string | undefined {
  if (!compiles(asBody(code))) return undefined;
  const at = lastExpression(code, compiles);
  if (at === undefined) return asBody(code);
  return asBody(`${code.slice(0, at)}return (${withoutSemicolon(code.slice(at))}\n)`);
}

/** The offset of the expression at the end of the code. */
function lastExpression(code: string, compiles: Compiles): number | undefined {
  let trials = 0;
  for (const at of startsFromEnd(code)) {
    if (++trials > MAX_TRIALS) return undefined;
    const before = code.slice(0, at);
    const last = code.slice(at);
    if (DECLARES.test(last) || (CONTINUES.test(last) && !/(?:^|[;}])\s*$/.test(before))) continue;
    const expression = withoutSemicolon(last);
    if (expression === "" || !compiles(asBody(`return (${expression}\n)`))) continue;
    // Unbalanced brackets may compile in one kind of bracket, but not in both.
    if (!compiles(asBody(`return [${expression}\n]`)) || !compiles(asBody(before))) continue;
    // `@` is a syntax error everywhere except in a comment, so here `at` is not inside a comment.
    if (!compiles(asBody(`${before}@`))) return at;
  }
  return undefined;
}

/** Every offset at which a statement may start, from the end. */
function* startsFromEnd(code: string): Generator<number> {
  for (let i = code.length - 1; i >= 0; i--) {
    const before = i === 0 ? "\n" : code[i - 1];
    if (
      /\S/.test(code[i] as string) &&
      (before === "\n" || before === ";" || before === "}" || isIndent(code, i))
    )
      yield i;
  }
}

function isIndent(code: string, at: number): boolean {
  let i = at - 1;
  while (code[i] === " " || code[i] === "\t") i--;
  return i < 0 || code[i] === "\n" || code[i] === ";" || code[i] === "}";
}

function withoutSemicolon(statement: string): string {
  return statement.replace(/[\s;]+$/, "");
}
