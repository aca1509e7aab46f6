/**
 * mcp_provision: searches servers for a client and asks the person at the client if needed. The scope decides
 * what is found and added.
 */
import { MetaMcpError } from "../../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { askPerson, canBeAsked } from "../../middleware/person.ts";
import { readInput } from "../input.ts";
import { Progress } from "../metatools/progress.ts";
import type { ProvisionCaller, Scope, ScopeCalls, ScopeFacts } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { PROVISION } from "./tools.ts";

type Provision = NonNullable<Scope["provision"]>;

export async function provision(
  scope: ScopeCalls & ScopeFacts,
  args: Raw | undefined,
  meta: Raw | undefined,
  request: ClientRequest,
): Promise<Raw> {
  const input = readInput(PROVISION, args);
  const value = (key: string): unknown => {
    const raw = input.get(key);
    return raw && fromRaw(raw);
  };
  const search = {
    intent: value("intent") as string,
    context: value("context") as string | undefined,
    autoProvision: value("autoProvision") === true,
  };
  if (search.intent.trim() === "")
    throw new MetaMcpError("validation_input", 'mcp_provision: "intent" is empty: describe the task.', {
      op: PROVISION.name,
    });
  const answer = await (scope.provision as Provision)(search, provisionCaller(scope, meta, request));
  return toRaw({ content: [{ type: "text", text: JSON.stringify(answer) }] });
}

function provisionCaller(
  { clock }: ScopeCalls,
  meta: Raw | undefined,
  request: ClientRequest,
): ProvisionCaller {
  const { origin, signal, uplink } = request;
  const progress = new Progress(uplink, meta);
  let reported = 0;
  return {
    origin,
    signal,
    ask: canBeAsked(origin.capabilities)
      ? async (question) => {
          const action = await askPerson({ signal, uplink }, question, clock);
          if (action === "accept") return "yes";
          return action === "decline" ? "no" : "none";
        }
      : undefined,
    report: (message) => progress.report({ progress: ++reported, message }),
  };
}
