/** One caller's hold on a connection: who to turn to when the child asks back, and what a second attempt depends on. */
import type { Call, Origin, Repeat, Uplink } from "../kernel/call.ts";
import type { CallTimer } from "../kernel/call-timer.ts";
import { holderKey } from "../kernel/principal.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { undeclaredFor } from "../rpc/era-2026/capability.ts";
import type { Incoming, Via } from "../rpc/peer.ts";
import { INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";
import { isString } from "../rpc/slice.ts";
import type { Breaker } from "./breaker.ts";
import type { Episode } from "./retry.ts";

/** The death of one connection under calls, until it is known whether a second attempt cured it. */
export interface Death {
  episode: Episode;
  /** Whether its calls get a respawn. */
  readonly respawn: boolean;
}

/** A call that the child answered with a task. */
export interface RunningTask {
  /** As the child calls it. */
  readonly id: string;
  /** The child says how it stands. */
  told(state: Raw): void;
  /** Gives it up, and tells the child. */
  stop(reason: Error): void;
}

export interface Claim {
  readonly origin: Origin;
  readonly uplink: Uplink;
  readonly aside: Call["aside"];
  repeat: Repeat;
  readonly task: Call["task"];
  /** Where other attempts of the same call are. */
  readonly beside: Call["beside"];
  /** It wants to know what there is: any instance will do, and it does not make its session stay there. */
  readonly lists: boolean;
  /** Which instance it goes to, once that is chosen; a second attempt goes to the same one, started again. */
  instance: number | undefined;
  /** Once the child runs it as a task. */
  run: RunningTask | undefined;
  readonly admitted: Breaker;
  /** The id its request was sent under; undefined while it waits for the connection. */
  id: number | undefined;
  timer: CallTimer | undefined;
  /** On how many connections it was tried, and how many of them it may have reached. */
  tries: number;
  sent: number;
  /** Of the connection it was last on. */
  death: Death | undefined;
  /** What the retry rule said at that death. */
  again: boolean;
  /** Another request on the same link was lost while this one was in flight: if it is lost too, it is the same death. */
  risk: Death | undefined;
}

export function claimOf(
  {
    origin,
    uplink,
    aside,
    repeat,
    task,
    beside,
  }: Pick<Call, "origin" | "uplink" | "aside" | "repeat" | "task" | "beside">,
  admitted: Breaker,
  lists = false,
): Claim {
  return {
    origin,
    uplink,
    aside,
    repeat,
    task,
    beside,
    lists,
    instance: undefined,
    run: undefined,
    admitted,
    id: undefined,
    timer: undefined,
    tries: 0,
    sent: 0,
    death: undefined,
    again: false,
    risk: undefined,
  };
}

/** It is tried on another connection: what was true of the last one is over. */
export function begun(claim: Claim): void {
  claim.id = undefined;
  claim.again = false;
  claim.risk = undefined;
}

/** Who had a call, and gave it up. */
export interface Gone {
  readonly session: string;
  readonly principal: string;
}

interface Found {
  readonly uplink: Uplink;
  readonly claims: readonly Claim[];
}

/** Who a message of the child is for: found, or why it cannot be known. */
export type Attribution = Found | { readonly refusal: string };

/**
 * The stream it came on names the call; without that, it is clear only while one session alone uses the connection.
 * Guessing ("the latest call") would hand one person's question to another.
 */
export function attribute(
  claims: ReadonlySet<Claim>,
  via: Via,
  /** Who gave up calls that the child may still be at. */
  left: readonly Gone[],
): Attribution {
  const all = apartFromTasks([...claims]);
  if (typeof via === "number") {
    const claim = [...claims].find((other) => other.id === via);
    return claim
      ? { uplink: claim.uplink, claims: [claim] }
      : { refusal: "the call it belongs to has ended" };
  }
  const [first] = all;
  if (!first) return { refusal: "there is no call in flight that it could belong to" };
  const { session, sessionless, principal } = first.origin;
  // Without sessions the same principal is the same client, one request after the other.
  const another = left.some(
    (gone) => gone.session !== session && !(sessionless && gone.principal === holderKey(principal)),
  );
  if (another || all.some((claim) => claim.origin.session !== session)) {
    return {
      refusal:
        'several clients use this connection, so the client is not known; set isolation to "session" to give each client its own',
    };
  }
  return { uplink: all.length === 1 ? first.uplink : besideAll(all, first.origin.uplink), claims: all };
}

/** As the layers of all of them leave it. */
export function saidAside(
  claims: readonly Claim[],
  method: string,
  params: Raw | undefined,
): Raw | undefined {
  return claims.reduce((said, { aside }) => (aside ? aside(method, said) : said), params);
}

function besideAll(claims: readonly Claim[], uplink: Uplink): Uplink {
  return {
    notify: (method, params) => uplink.notify(method, saidAside(claims, method, params)),
    request: (method, params, ...more) => uplink.request(method, saidAside(claims, method, params), ...more),
  };
}

/** What a task asks or tells names the task: while other calls are in flight, what names none is theirs. */
function apartFromTasks(claims: readonly Claim[]): readonly Claim[] {
  const calls = claims.filter(({ run }) => !run);
  return calls.length > 0 ? calls : claims;
}

/** Who runs the task that a message names. */
export function attributeToTask(claims: ReadonlySet<Claim>, taskId: string): Attribution {
  for (const claim of claims) if (claim.run?.id === taskId) return { uplink: claim.uplink, claims: [claim] };
  return { refusal: "the task it belongs to is not running" };
}

/** Puts a request of the child to the client it is for, whose call stands still meanwhile. Rejects with why it cannot be. */
export async function passOn(
  { id, method, params, signal }: Incoming,
  by: Attribution,
  onProgress: (params: Raw) => void,
): Promise<Raw> {
  if ("refusal" in by) throw RpcError.of(INTERNAL_ERROR, `${method} cannot be passed on: ${by.refusal}`);
  const { capabilities } = (by.claims[0] as Claim).origin;
  const missing = undeclaredFor(capabilities, method, params);
  if (missing)
    throw RpcError.of(
      METHOD_NOT_FOUND,
      `${method} cannot be passed on: the client did not declare the capability it needs: ${JSON.stringify(missing)}`,
    );
  // An id that is a text is what the child calls its question; a number only counts.
  const asking = isString(id) ? { name: fromRaw(id) as string, onProgress } : { onProgress };
  return await whileAsked(by, () => by.uplink.request(method, params, signal, asking));
}

/** The calls of who is asked stand still meanwhile. */
export async function whileAsked<T>({ claims }: Found, ask: () => Promise<T>): Promise<T> {
  for (const claim of claims) claim.timer?.pause();
  try {
    return await ask();
  } finally {
    for (const claim of claims) claim.timer?.resume();
  }
}
