/** The result budget of the metatools: how much of a child's result is returned, and where the rest is stored. */
import type { Origin } from "../../kernel/call.ts";
import { ownBudget } from "../own/own-budget.ts";
import { OWN_SERVER, READ } from "../own/tools.ts";
import { type Budget, DEFAULT_BUDGET } from "../result/budget.ts";
import type { Scope } from "../scope.ts";
import { EXECUTE_CODE } from "./tools.ts";

const readCommand = (uri: string): string =>
  `run_tool {tool_id: "${OWN_SERVER}:${READ.name}", args: {uri: "${uri}"}}`;

/** The largest result that is returned whole, in bytes. */
export function budgetFor(scope: Scope): number {
  return scope.maxResultBytes() ?? DEFAULT_BUDGET;
}

/** `source` is the tool that returned the result. */
export function budgetOf(scope: Scope, source: string, origin: Origin): Budget {
  return ownBudget(scope, source, origin, { readCommand, code: EXECUTE_CODE.name });
}
