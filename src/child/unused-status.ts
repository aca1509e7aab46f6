/** The status of a child that nobody has used yet. */
import { idOf } from "../config/identity.ts";
import type { ServerSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Asker } from "../kernel/list-key.ts";
import { accountOf } from "../kernel/principal.ts";
import type { ServerStatus } from "../kernel/server-status.ts";
import { instancesOf } from "./instance.ts";

export interface CallerCredentials {
  /**
   * The server with the credential of this account; the same object as long as nothing changed. If the
   * account has none, the error says where to log in.
   */
  of(spec: ServerSpec, account: string | undefined): ServerSpec | MetaMcpError;
}

/** For servers with a credential per account, if there are no accounts. */
export const NO_CREDENTIALS: CallerCredentials = {
  of: ({ name }) =>
    new MetaMcpError("auth_required", `${name} works only with accounts of a gateway.`, { server: name }),
};

/** The status for this caller; without one, for all callers together. */
export function unusedStatus(
  spec: ServerSpec,
  credentials: CallerCredentials = NO_CREDENTIALS,
  asker?: Pick<Asker, "principal">,
): ServerStatus {
  const { criticality } = spec;
  const status = { name: idOf(spec), criticality, connected: false } as const;
  const usable = spec.perAccount && asker ? credentials.of(spec, accountOf(asker.principal)) : spec;
  if (MetaMcpError.is(usable))
    return { ...status, state: "failed", reason: `${usable.code}: ${usable.message}`, refusal: usable };
  return { ...status, state: "idle", ...(!spec.perAccount && instancesOf(spec) > 1 && { instances: 0 }) };
}
