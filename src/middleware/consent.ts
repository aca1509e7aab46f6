/**
 * Asks the person at the client for permission to make one call. A client that cannot be asked has not
 * permitted it.
 */
import type { Call } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { EMPTY_OBJECT, type Raw } from "../kernel/raw.ts";
import { shownValue } from "../kernel/shown-value.ts";
import { visible } from "../kernel/visible.ts";
import { repeatedKey } from "../rpc/repeated-key.ts";
import { member } from "../rpc/slice.ts";
import { withPermission } from "./permission.ts";
import { askPerson, canBeAsked, questionName } from "./person.ts";

/** Clients show the question in a small dialog. */
const SHOWN = { most: 2_000, hide: "plain" } as const;

interface Asking {
  /** The rule that needs the consent, for the refusal. */
  readonly rule: string;
  readonly clock: Clock;
}

/** Passes the call to `next` if the person agrees. Otherwise rejects with `forbidden` and the reason. */
export function withConsent(call: Call, asking: Asking, next: (call: Call) => Promise<Raw>): Promise<Raw> {
  const args = member(call.params, "arguments") ?? EMPTY_OBJECT;
  const { server, tool } = namesOf(call);
  const whole = `Allow ${server} to run ${tool} with ${args.toString()}?`;
  const ask = (): Promise<void> => askConsent(call, asking, { whole, args });
  return withPermission(call, { permission: questionName(whole), ask }, next);
}

async function askConsent(
  call: Call,
  { rule, clock }: Asking,
  { whole, args }: { readonly whole: string; readonly args: Raw },
): Promise<void> {
  const { server, tool } = namesOf(call);
  const refuse = (reason: string): never => {
    const text = `${server} ${tool} needs the user's consent (${rule}), but ${reason}`;
    throw new MetaMcpError("forbidden", text, { server, tool_id: `${server}:${tool}` });
  };
  if (!canBeAsked(call.origin.capabilities)) refuse("this client cannot ask its user. Nothing was done.");
  // The person would see one of both values, and the server might use the other.
  const twice = repeatedKey(args);
  if (twice !== undefined) refuse(`the arguments contain "${visible(twice, 64)}" twice. Nothing was done.`);
  const shown = JSON.stringify(shownValue(args, SHOWN));
  const question = `Allow ${visible(server)} to run ${visible(tool)} with ${shown}?`;
  const action = await askPerson(call, question, clock, whole);
  if (action === "accept") return;
  if (action === "decline") refuse("the user said no. Do not try again unless they ask for it.");
  refuse("the user did not answer. Nothing was done.");
}

function namesOf({ facts, server, tool = "" }: Call): { readonly server: string; readonly tool: string } {
  return { server: facts?.server ?? server, tool: facts?.name ?? tool };
}
