/**
 * The budget for results: where large results are stored, and which own tools this client can read them with.
 */
import { callerOf, type Origin } from "../../kernel/call.ts";
import { shareOf } from "../../kernel/principal.ts";
import { type Budget, DEFAULT_BUDGET } from "../result/budget.ts";
import type { ScopeCatalog, ScopeFacts } from "../scope.ts";
import { hasBuiltin, READ } from "./tools.ts";

interface ReadTools {
  /** Returns the call of the own tool `read` on this surface. */
  readonly readCommand: NonNullable<Budget["readCommand"]>;
  /** The name of the own tool that runs code. */
  readonly code: string;
}

/** `source` is the tool that returned the result. */
export function builtinBudget(
  scope: ScopeCatalog & ScopeFacts,
  source: string,
  origin: Origin,
  { readCommand, code }: ReadTools,
): Budget {
  return {
    store: scope.results,
    caller: callerOf(origin),
    owner: shareOf(origin.principal),
    source,
    most: scope.maxResultBytes() ?? DEFAULT_BUDGET,
    readCommand: hasBuiltin(scope, READ.name, origin) ? readCommand : undefined,
    code: scope.code && hasBuiltin(scope, code, origin) ? code : undefined,
  };
}
