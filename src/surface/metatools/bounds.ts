/** How much of a child's result the metatools show, and where the rest of it is kept. */
import type { Origin } from "../../kernel/call.ts";
import { ownBudget } from "../own/own-budget.ts";
import { OWN_SERVER, READ } from "../own/tools.ts";
import { type Budget, DEFAULT_BUDGET } from "../result/budget.ts";
import type { Scope } from "../scope.ts";
import { EXECUTE_CODE } from "./tools.ts";

const how = (uri: string): string =>
  `run_tool {tool_id: "${OWN_SERVER}:${READ.name}", args: {uri: "${uri}"}}`;

/** In bytes. */
export function budgetFor(scope: Scope): number {
  return scope.maxResultBytes() ?? DEFAULT_BUDGET;
}

/** `source`: the tool whose result it is. */
export function budgetOf(scope: Scope, source: string, origin: Origin): Budget {
  return ownBudget(scope, source, origin, { how, code: EXECUTE_CODE.name });
}
