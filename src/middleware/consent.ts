/** Asks the person at the client for permission to make one call. A client that cannot be asked has not permitted it. */
import type { Call } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Raw } from "../kernel/raw.ts";
import { member } from "../rpc/slice.ts";
import { withPermission } from "./permission.ts";
import { askPerson, canBeAsked, questionName } from "./person.ts";

const LONGEST_ARGUMENTS = 1_000;

interface Asking {
  /** The rule that needs the consent, for the refusal. */
  readonly rule: string;
  readonly clock: Clock;
}

/** Passes the call to `next` if the person agrees. Otherwise rejects with `forbidden` and the reason. */
export function withConsent(call: Call, asking: Asking, next: (call: Call) => Promise<Raw>): Promise<Raw> {
  const args = member(call.params, "arguments");
  const written = args?.toString() ?? "{}";
  const { server, tool } = namesOf(call);
  const question = (shown: string): string => `Allow ${server} to run ${tool} with ${shown}?`;
  const whole = question(written);
  const ask = (): Promise<void> => askConsent(call, asking, { whole, shown: question(shortened(written)) });
  return withPermission(call, { permission: questionName(whole), ask }, next);
}

async function askConsent(
  call: Call,
  { rule, clock }: Asking,
  { whole, shown }: { readonly whole: string; readonly shown: string },
): Promise<void> {
  const { server, tool } = namesOf(call);
  const refuse = (reason: string): never => {
    const text = `${server} ${tool} needs the user's consent (${rule}), but ${reason}`;
    throw new MetaMcpError("forbidden", text, { server, tool_id: `${server}:${tool}` });
  };
  if (!canBeAsked(call.origin.capabilities)) refuse("this client cannot ask its user. Nothing was done.");
  const action = await askPerson(call, shown, clock, whole);
  if (action === "accept") return;
  if (action === "decline") refuse("the user said no. Do not try again unless they ask for it.");
  refuse("the user did not answer. Nothing was done.");
}

function namesOf({ facts, server, tool = "" }: Call): { readonly server: string; readonly tool: string } {
  return { server: facts?.server ?? server, tool: facts?.name ?? tool };
}

function shortened(written: string): string {
  return written.length > LONGEST_ARGUMENTS ? `${written.slice(0, LONGEST_ARGUMENTS)} …` : written;
}
