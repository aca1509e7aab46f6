/** Hints for a model whose code expects another environment. Returns no hint unless the cause is clear. */

interface CodeError {
  /** The message of the JavaScript engine. */
  readonly message: string;
  /** The line of the error; empty if it is not known. */
  readonly source: string;
}

const FENCE = /^\s*```/;
const MODULE = /could not load module|^ReferenceError: (?:require|module|exports) is not defined/;
const MODULE_LINE = /^\s*(?:import|export)\b/;
const MISSING_GLOBAL =
  /^ReferenceError: (?:fetch|XMLHttpRequest|WebSocket|axios|process|Buffer|fs|path|os|window|document|Deno|Bun|__dirname|__filename) is not defined/;
const BIGINT = /^TypeError: .*\bbigint\b/i;
const OWN_TOOL = /^ReferenceError: (?:mcp_\w+|call_?tool|run_?tool|mcp|client) is not defined/i;
/** Matches `tools.read()` and `tools["files:read"]()`. */
const NO_SERVER = /\btools\s*(?:\.\s*[\w$]+|\[[^\]]*\])\s*\(/;
const DECORATOR = /(?:^|[\s{;(])@[\p{L}_$][\p{L}\p{N}_$.]*/u;
const UNDEFINED = /^ReferenceError: ([\p{L}\p{N}_$]+) is not defined/u;
const NAMESPACE = /^[ \t]*(?:export\s+)?(?:namespace|module)\s+([\p{L}_$][\p{L}\p{N}_$]*)/gmu;

export function hintFor({ message, source }: CodeError, code: string): string | undefined {
  const syntax = message.startsWith("SyntaxError");
  if (FENCE.test(code)) return "Send only the code, without a Markdown fence.";
  if (declaresNamespace(message, code))
    return "TypeScript namespaces are not supported: use an object or plain functions.";
  if (syntax && DECORATOR.test(source)) return "Decorators are not supported: call the function instead.";
  if (MODULE.test(message) || (syntax && MODULE_LINE.test(source)))
    return "Modules cannot be imported: only globals and `tools` are available.";
  if (MISSING_GLOBAL.test(message))
    return "There is no network, file or process access here: use a tool for that.";
  if (BIGINT.test(message))
    return "Integers beyond 2^53 are BigInts, so that they keep their digits: convert with Number(x) to calculate.";
  if (OWN_TOOL.test(message) || (message.startsWith("TypeError") && NO_SERVER.test(source)))
    return 'Call a tool as `await tools.server.tool(args)`; `await search("a task")` finds tools.';
  return undefined;
}

/**
 * Type stripping removes the whole namespace, so the error is that its name is not defined where it is used.
 */
function declaresNamespace(message: string, code: string): boolean {
  const [, missing] = UNDEFINED.exec(message) ?? [];
  return [...code.matchAll(NAMESPACE)].some(([, name]) => name === missing);
}
