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

export function hintFor({ message, source }: Mistake, code: string): string | undefined {
  if (FENCE.test(code)) return "Give the code alone, without a fence around it.";
  if (MODULE.test(message) || (message.startsWith("SyntaxError") && MODULE_LINE.test(source)))
    return "There are no modules here: what there is are globals, and the tools.";
  if (ELSEWHERE.test(message)) return "There is no network, file or process here: a tool has to do that.";
  if (OWN_TOOL.test(message) || (message.startsWith("TypeError") && NO_SERVER.test(source)))
    return 'A tool is called as `await tools.server.tool(args)`; `await search("a task")` finds them.';
  return undefined;
}
