/** Puts calls of tools under `tools.ask` to the person first. Only a yes lets one through; who cannot be asked has not said yes. */
import { mustAsk } from "../config/glob.ts";
import type { ToolRules } from "../config/spec.ts";
import type { Call, Middleware, ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { members } from "../rpc/slice.ts";
import { askPerson, canBeAsked } from "./person.ts";

const LONGEST_ARGUMENTS = 1_000;

export function askFirst(rulesOf: (server: ServerId) => ToolRules | undefined, clock: Clock): Middleware {
  return (next) =>
    function askFirst(call) {
      const rules = rulesOf(call.server);
      if (!rules || rules.ask.length === 0 || call.method !== "tools/call") return next(call);
      const [name, args] = members(call.params, ["name", "arguments"]);
      const tool = String(name && fromRaw(name));
      if (!mustAsk(rules, tool)) return next(call);
      return consent(call, tool, args, clock).then(() => next(call));
    };
}

/** Resolves on a yes, else rejects with `forbidden` and the reason. */
async function consent(call: Call, tool: string, args: Raw | undefined, clock: Clock): Promise<void> {
  const { server } = call;
  const refuse = (reason: string): never => {
    const text = `${server} ${tool} runs only with a person's consent (tools.ask in the config), and ${reason}`;
    throw new MetaMcpError("forbidden", text, { server, tool_id: `${server}:${tool}` });
  };
  if (!canBeAsked(call.origin.capabilities)) refuse("this client cannot ask its user. Nothing was done.");
  const action = await askPerson(call, question(server, tool, args), clock);
  if (action === "accept") return;
  if (action === "decline") refuse("they said no. Do not try again unless they ask for it.");
  refuse("they gave no answer. Nothing was done.");
}

function question(server: string, tool: string, args: Raw | undefined): string {
  const written = args?.toString() ?? "{}";
  const shown = written.length > LONGEST_ARGUMENTS ? `${written.slice(0, LONGEST_ARGUMENTS)} …` : written;
  return `Allow ${server} to run ${tool} with ${shown}?`;
}
