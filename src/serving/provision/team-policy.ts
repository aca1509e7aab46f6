/** Provisioning in a gateway: administrators add a found server, everybody else creates a request for it. */
import type { ProvisionRequest } from "../../gateway/provisioning-control.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { ConfigWriter } from "../../provision/config-writer.ts";
import type { Installer } from "../../provision/install.ts";
import {
  type Added,
  allowedMatches,
  type NotAdded,
  type ProvisionPolicy,
  readyMatches,
} from "../../provision/provision-policy.ts";
import type { ShownCandidate } from "../../provision/show.ts";

export interface TeamPolicyParts {
  readonly installer: Pick<Installer, "install">;
  readonly writer: Pick<ConfigWriter, "nameOf" | "confined">;
  readonly configured: () => string;
  /** Why nothing can be added at this endpoint. */
  readonly withheld: () => string | undefined;
  /** Creates a request for the server. */
  readonly request: (match: ShownCandidate, by: Principal) => Promise<ProvisionRequest>;
}

const NONE =
  "None of these can be used: the gateway's list of publishers denies them, or their entries are invalid.";

export function teamPolicy({
  installer,
  writer,
  configured,
  withheld,
  request,
}: TeamPolicyParts): ProvisionPolicy {
  function advise(matches: readonly ShownCandidate[]): string {
    const [first] = allowedMatches(matches);
    if (!first) return NONE;
    const { name } = first.plan.candidate;
    if (first.configured !== undefined)
      return `${name} is already here: mcp_discover {server: "${first.configured}"} shows its tools.`;
    return `To get ${name}: call again with autoProvision: true. An administrator of this gateway decides. To choose another one, pass its id as the intent.`;
  }
  async function ask(match: ShownCandidate, by: Principal): Promise<NotAdded> {
    const { uuid, state, reason } = await request(match, by);
    const { name } = match.plan.candidate;
    const next =
      state === "refused"
        ? `An administrator refused ${name}${reason === undefined ? "" : `: ${reason}`}. Do not ask for it again.`
        : `An administrator was asked for ${name}. Its tools appear here after approval. Do not wait for it.`;
    return { next, more: { request: { uuid, state } } };
  }
  return {
    nameOf: (entry) => writer.nameOf(entry),
    confined: (entry, from) => writer.confined(entry, from),
    configured: () => Promise.resolve(configured()),
    withheld,
    advise,
    async add({ matches, locked }, asker): Promise<Added | NotAdded> {
      const [first] = allowedMatches(matches);
      const { principal } = asker.origin;
      if (locked || !first || first.configured !== undefined) return { next: advise(matches) };
      if (!principal.roles.includes("admin")) return await ask(first, principal);
      const [ready] = readyMatches(matches);
      if (!ready)
        return {
          next: `Set ${first.plan.missing.join(", ")} where the gateway is started, or add the server yourself.`,
        };
      return { ...(await installer.install(ready.plan, asker)), from: ready.plan.candidate.from };
    },
  };
}
