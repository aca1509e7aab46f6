/**
 * Adds the output of servers to the reasons of their failures, for principals who may read it. Everybody else
 * gets the reason alone.
 */
import { may } from "../access/may.ts";
import type { Principal } from "../kernel/principal.ts";
import { withOutput } from "../kernel/with-output.ts";

interface Failed {
  readonly reason?: string;
  readonly output?: string;
}

export function shownTo<T extends Failed>(principal: Principal, { output, ...status }: T): Omit<T, "output"> {
  const { reason } = status;
  if (output === undefined || reason === undefined || !may(principal, "servers.logs")) return status;
  return { ...status, reason: withOutput(reason, output) };
}
