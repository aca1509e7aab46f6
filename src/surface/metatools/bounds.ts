/** How much of a child's result the metatools show, and where the rest of it is kept. */
import { callerOf, type Origin } from "../../kernel/call.ts";
import { OWN_SERVER, READ } from "../own/tools.ts";
import { type Budget, DEFAULT_BUDGET } from "../result/budget.ts";
import type { Scope } from "../scope.ts";
import { EXECUTE_CODE } from "./tools.ts";

/** In bytes. */
export function budgetFor(scope: Scope): number {
  return scope.maxResultBytes() ?? DEFAULT_BUDGET;
}

/** `source`: the tool whose result it is. */
export function budgetOf({ results, code: runsCode }: Scope, source: string, origin: Origin): Budget {
  const how = (uri: string): string =>
    `run_tool {tool_id: "${OWN_SERVER}:${READ.name}", args: {uri: "${uri}"}}`;
  const code = runsCode ? EXECUTE_CODE.name : undefined;
  return { store: results, caller: callerOf(origin), source, how, code };
}
