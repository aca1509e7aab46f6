/** mcp_provision: asks for servers on behalf of a client, and lets its person be asked. What is found and done is decided elsewhere. */
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { askPerson, canBeAsked } from "../../middleware/person.ts";
import { readInput } from "../input.ts";
import { Progress } from "../metatools/progress.ts";
import type { ProvisionCaller, Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { PROVISION } from "./tools.ts";

type Provision = NonNullable<Scope["provision"]>;

export async function provision(
  scope: Scope,
  args: Raw | undefined,
  meta: Raw | undefined,
  request: ClientRequest,
): Promise<Raw> {
  const input = readInput(PROVISION, args);
  const value = (key: string): unknown => {
    const raw = input.get(key);
    return raw && fromRaw(raw);
  };
  const wanted = {
    intent: value("intent") as string,
    context: value("context") as string | undefined,
    autoProvision: value("autoProvision") === true,
  };
  const answer = await (scope.provision as Provision)(wanted, seekerOf(scope, meta, request));
  return toRaw({ content: [{ type: "text", text: JSON.stringify(answer) }] });
}

function seekerOf({ clock }: Scope, meta: Raw | undefined, request: ClientRequest): ProvisionCaller {
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
