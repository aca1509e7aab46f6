/** A yes of the person at the client, for one call. Who cannot be asked has not said yes. */
import type { Call } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { member } from "../rpc/slice.ts";
import { askPerson, canBeAsked } from "./person.ts";
import { standStill } from "./stand-still.ts";

const LONGEST_ARGUMENTS = 1_000;

/** `rule`: what wants it. Resolves on a yes with the call as it goes on, else rejects with `forbidden` and the reason. */
export function consent(call: Call, rule: string, clock: Clock): Promise<Call> {
  return standStill(call, clock, asked(call, rule, clock));
}

async function asked(call: Call, rule: string, clock: Clock): Promise<void> {
  const server = call.facts?.server ?? call.server;
  const tool = call.facts?.name ?? call.tool ?? "";
  const refuse = (reason: string): never => {
    const text = `${server} ${tool} needs the user's consent (${rule}), but ${reason}`;
    throw new MetaMcpError("forbidden", text, { server, tool_id: `${server}:${tool}` });
  };
  if (!canBeAsked(call.origin.capabilities)) refuse("this client cannot ask its user. Nothing was done.");
  const args = member(call.params, "arguments");
  const written = args?.toString() ?? "{}";
  const question = (shown: string): string => `Allow ${server} to run ${tool} with ${shown}?`;
  const action = await askPerson(call, question(shortened(written)), clock, question(written));
  if (action === "accept") return;
  if (action === "decline") refuse("the user said no. Do not try again unless they ask for it.");
  refuse("the user did not answer. Nothing was done.");
}

function shortened(written: string): string {
  return written.length > LONGEST_ARGUMENTS ? `${written.slice(0, LONGEST_ARGUMENTS)} …` : written;
}
