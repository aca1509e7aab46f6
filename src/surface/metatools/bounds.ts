/**
 * The result budget of the metatools: how much of a child's result is returned, and where the rest is stored.
 */
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import type { Origin } from "../../kernel/call.ts";
import { builtinBudget } from "../builtin/builtin-budget.ts";
import { READ } from "../builtin/tools.ts";
import { type Budget, DEFAULT_BUDGET } from "../result/budget.ts";
import type { ScopeCatalog, ScopeFacts } from "../scope.ts";
import { EXECUTE_CODE } from "./tools.ts";

const readCommand = (uri: string): string =>
  `run_tool {tool_id: "${BUILTIN_SERVER}:${READ.name}", args: {uri: "${uri}"}}`;

/** The largest result that is returned whole, in bytes. */
export function budgetFor(scope: ScopeFacts): number {
  return scope.maxResultBytes() ?? DEFAULT_BUDGET;
}

/** `source` is the tool that returned the result. */
export function budgetOf(scope: ScopeCatalog & ScopeFacts, source: string, origin: Origin): Budget {
  return builtinBudget(scope, source, origin, { readCommand, code: EXECUTE_CODE.name });
}
