/** Code with a top-level `return`, as the body of an async function that also gives the value of its last expression. Knows no grammar: it asks whether pieces compile. */

type Compiles = (script: string) => boolean;

/** A statement that begins like this declares something; read as an expression it would not. */
const DECLARES = /^(?:async\s+)?(?:function|class)\b/;
/** Such a line goes on with the statement before it, unless that was ended. */
const CONTINUES = /^[([`+\-/*.,?<>=&|^%]/;
const MOST_TRIALS = 40;

export const asBody = (body: string): string => `(async () => {${body}\n})()`;

/** Undefined where it does not compile either. Lines stay where they are. */
export function asFunction(code: string, compiles: Compiles): string | undefined {
  if (!compiles(asBody(code))) return undefined;
  const at = lastExpression(code, compiles);
  if (at === undefined) return asBody(code);
  return asBody(`${code.slice(0, at)}return (${withoutEnd(code.slice(at))}\n)`);
}

/** Where the expression begins that the code ends with. */
function lastExpression(code: string, compiles: Compiles): number | undefined {
  let trials = 0;
  for (const at of startsFromEnd(code)) {
    if (++trials > MOST_TRIALS) return undefined;
    const before = code.slice(0, at);
    const last = code.slice(at);
    if (DECLARES.test(last) || (CONTINUES.test(last) && !/(?:^|[;}])\s*$/.test(before))) continue;
    const expression = withoutEnd(last);
    if (expression === "" || !compiles(asBody(`return (${expression}\n)`))) continue;
    // What closes more brackets than it opens does not compile in both kinds.
    if (!compiles(asBody(`return [${expression}\n]`)) || !compiles(asBody(before))) continue;
    // Within a comment everything compiles.
    if (!compiles(asBody(`${before}@`))) return at;
  }
  return undefined;
}

/** Every place at which a statement could begin. */
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

function withoutEnd(statement: string): string {
  return statement.replace(/[\s;]+$/, "");
}
