/** Puts calls of tools under `tools.ask` to the person first. Only a yes lets one through; who cannot be asked has not said yes. */
import { mustAsk } from "../config/glob.ts";
import type { ToolRules } from "../config/spec.ts";
import type { Call, Middleware, ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { members } from "../rpc/slice.ts";

/** Nobody is waited for longer than this. */
const PATIENCE_MS = 600_000;
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
  const action = await answer(call, question(server, tool, args), clock).catch(() => undefined);
  if (call.signal.aborted) throw call.signal.reason;
  if (action === "accept") return;
  if (action === "decline") refuse("they said no. Do not try again unless they ask for it.");
  refuse("they gave no answer. Nothing was done.");
}

/** A form; a client that can only show web addresses has no use for it. */
function canBeAsked(capabilities: Raw): boolean {
  const { elicitation } = fromRaw(capabilities) as { elicitation?: Record<string, unknown> | null };
  if (typeof elicitation !== "object" || elicitation === null) return false;
  return "form" in elicitation || !("url" in elicitation);
}

function question(server: string, tool: string, args: Raw | undefined): Raw {
  const written = args?.toString() ?? "{}";
  const shown = written.length > LONGEST_ARGUMENTS ? `${written.slice(0, LONGEST_ARGUMENTS)} …` : written;
  return toRaw({
    message: `Allow ${server} to run ${tool} with ${shown}?`,
    requestedSchema: { type: "object", properties: {} },
  });
}

/** Undefined where there was none in time. */
async function answer(call: Call, params: Raw, clock: Clock): Promise<unknown> {
  const patience = new CallSignal();
  const giveUp = (): void => patience.abort(new Error("nobody waits for the answer any more"));
  const timer = clock.after(PATIENCE_MS, giveUp);
  call.signal.addEventListener("abort", giveUp);
  try {
    const result = await call.uplink.request("elicitation/create", params, patience);
    return (fromRaw(result) as { action?: unknown } | null)?.action;
  } finally {
    timer.cancel();
    call.signal.removeEventListener("abort", giveUp);
  }
}
