/** Where results that are too large to show are kept, and which tools of ours read them there: those that whoever asks has. */
import { callerOf, type Origin } from "../../kernel/call.ts";
import type { Budget } from "../result/budget.ts";
import type { Scope } from "../scope.ts";
import { hasOwn, READ } from "./tools.ts";

interface Readers {
  /** How the tool that reads is called on this surface. */
  readonly how: NonNullable<Budget["how"]>;
  /** The tool that runs code. */
  readonly code: string;
}

/** `source`: the tool whose result it is. */
export function ownBudget(scope: Scope, source: string, origin: Origin, { how, code }: Readers): Budget {
  return {
    store: scope.results,
    caller: callerOf(origin),
    source,
    how: hasOwn(scope, READ.name, origin) ? how : undefined,
    code: scope.code && hasOwn(scope, code, origin) ? code : undefined,
  };
}
