/** A word to a model whose code expects to run somewhere else. Says nothing where it is not sure to help. */

interface Mistake {
  /** As the engine says it. */
  readonly message: string;
  /** The line it happened in; empty where it is not known. */
  readonly source: string;
}

const FENCE = /^\s*```/;
const MODULE = /could not load module|^ReferenceError: (?:require|module|exports) is not defined/;
const MODULE_LINE = /^\s*(?:import|export)\b/;
const ELSEWHERE =
  /^ReferenceError: (?:fetch|XMLHttpRequest|WebSocket|axios|process|Buffer|fs|path|os|window|document|Deno|Bun|__dirname|__filename) is not defined/;
const OWN_TOOL = /^ReferenceError: (?:mcp_\w+|call_?tool|run_?tool|mcp|client) is not defined/i;
/** `tools.read()`, `tools["files:read"]()` */
const NO_SERVER = /\btools\s*(?:\.\s*[\w$]+|\[[^\]]*\])\s*\(/;
const DECORATOR = /(?:^|[\s{;(])@[\p{L}_$][\p{L}\p{N}_$.]*/u;
const UNDEFINED = /^ReferenceError: ([\p{L}\p{N}_$]+) is not defined/u;
const NAMESPACE = /^[ \t]*(?:export\s+)?(?:namespace|module)\s+([\p{L}_$][\p{L}\p{N}_$]*)/gmu;

export function hintFor({ message, source }: Mistake, code: string): string | undefined {
  const syntax = message.startsWith("SyntaxError");
  if (FENCE.test(code)) return "Send only the code, without a Markdown fence.";
  if (declaresNamespace(message, code))
    return "TypeScript namespaces are not supported: use an object or plain functions.";
  if (syntax && DECORATOR.test(source)) return "Decorators are not supported: call the function instead.";
  if (MODULE.test(message) || (syntax && MODULE_LINE.test(source)))
    return "Modules cannot be imported: only globals and `tools` are available.";
  if (ELSEWHERE.test(message))
    return "There is no network, file or process access here: use a tool for that.";
  if (OWN_TOOL.test(message) || (message.startsWith("TypeError") && NO_SERVER.test(source)))
    return 'Call a tool as `await tools.server.tool(args)`; `await search("a task")` finds tools.';
  return undefined;
}

/** Taking the types off takes the whole namespace off: its name is missed only where it is used. */
function declaresNamespace(message: string, code: string): boolean {
  const [, missing] = UNDEFINED.exec(message) ?? [];
  return [...code.matchAll(NAMESPACE)].some(([, name]) => name === missing);
}
