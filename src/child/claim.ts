/**
 * One caller's claim on a connection: whom to ask when the child has a question, and the state that decides
 * about a retry.
 */
import type { Call, Origin, Repeat, Uplink } from "../kernel/call.ts";
import type { CallTimer } from "../kernel/call-timer.ts";
import { holderKey } from "../kernel/principal.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { undeclaredFor } from "../rpc/era-2026/capability.ts";
import type { Incoming, Via } from "../rpc/peer.ts";
import { INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";
import { isString } from "../rpc/slice.ts";
import type { Breaker } from "./breaker.ts";
import type { PendingCrash } from "./retry.ts";

/** The loss of one connection under calls. */
export interface Crash {
  pending: PendingCrash;
  /** Whether the server may be restarted for its calls. */
  readonly respawn: boolean;
  /** The server is restarted although no call is sent again. The restart decides whether the crash counts. */
  restart: boolean;
}

/** A call that the child answered with a task. */
export interface RunningTask {
  /** The task id that the child gave it. */
  readonly id: string;
  /** The child reports the state of the task. */
  update(state: Raw): void;
  /** Cancels the task here and at the child. */
  stop(reason: Error): void;
}

/** What a claim needs to know about its call. */
type Claimant = Pick<Call, "origin" | "uplink" | "aside" | "repeat" | "task" | "beside">;

export interface Claim {
  readonly origin: Origin;
  readonly uplink: Uplink;
  readonly aside: Call["aside"];
  repeat: Repeat;
  readonly task: Call["task"];
  /** The instances that run other attempts of the same call. */
  readonly beside: Call["beside"];
  /**
   * It only lists what the child offers: it may use any instance, and its session is not bound to that
   * instance.
   */
  readonly lists: boolean;
  /** The instance it uses, once chosen. A second attempt uses the same one, restarted. */
  instance: number | undefined;
  /** Set once the child runs the call as a task. */
  running: RunningTask | undefined;
  readonly admitted: Breaker;
  /** The id of its request; undefined while it waits for the connection. */
  id: number | undefined;
  timer: CallTimer | undefined;
  /** Number of connections on which it was tried. */
  tries: number;
  /** Number of lost connections on which it may have reached the child. */
  sent: number;
  /**
   * The child has begun to work on it: it asked a question or created a task. From then on a failure never
   * means that nothing was sent.
   */
  begun: boolean;
  /** The loss of its last try is counted in `sent`, or it was not sent. */
  lost: boolean;
  /** The crash of its last connection. */
  crash: Crash | undefined;
  /** Whether the retry rule allows another attempt after that crash. */
  retry: boolean;
  /**
   * A crash that another request on the same link met while this one was in flight. If this one is lost too,
   * it is the same crash.
   */
  linkCrash: Crash | undefined;
}

export function claimOf(call: Claimant, admitted: Breaker, lists = false): Claim {
  const { origin, uplink, aside, repeat, task, beside } = call;
  return {
    origin,
    uplink,
    aside,
    repeat,
    task,
    beside,
    lists,
    instance: undefined,
    running: undefined,
    admitted,
    id: undefined,
    timer: undefined,
    tries: 0,
    sent: 0,
    begun: false,
    lost: false,
    crash: undefined,
    retry: false,
    linkCrash: undefined,
  };
}

/** Prepares the claim for a try on another connection. */
export function resetForTry(claim: Claim): void {
  claim.id = undefined;
  claim.retry = false;
  claim.lost = false;
  claim.linkCrash = undefined;
}

/** How often the call may have reached the child, including its last try. */
export function timesSent({ sent, id, lost }: Claim): number {
  return sent + (id !== undefined && !lost ? 1 : 0);
}

/** A client that cancelled a call which the child may still be working on. */
export interface FormerCaller {
  readonly session: string;
  readonly principal: string;
}

interface Attributed {
  readonly uplink: Uplink;
  readonly claims: readonly Claim[];
}

/** The client that a message of the child is for, or the reason why it cannot be known. */
export type Attribution = Attributed | { readonly refusal: string };

/**
 * Finds the client that a message is for. The HTTP stream it came on names the call. Without such a stream it
 * is certain only if a single session uses the connection. A guess ("the latest call") could show one
 * person's question to another.
 */
export function attribute(
  claims: Iterable<Claim>,
  via: Via,
  formerCallers: readonly FormerCaller[],
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
  // A client without a session has a new session id for each request, so its principal identifies it.
  const another = formerCallers.some(
    (former) => former.session !== session && !(sessionless && former.principal === holderKey(principal)),
  );
  if (another || all.some((claim) => claim.origin.session !== session)) {
    return {
      refusal:
        'several clients use this connection, so the client is not known; set isolation to "session" to give each client its own',
    };
  }
  return { uplink: all.length === 1 ? first.uplink : uplinkOfAll(all, first.origin.uplink), claims: all };
}

/** Sends a message with the params as the layers of all these calls change them. */
export function throughLayers<T>(
  claims: readonly Claim[],
  [method, params]: readonly [method: string, params: Raw | undefined],
  send: (params: Raw | undefined) => T,
): T | Promise<T> {
  let changed: Raw | undefined | Promise<Raw | undefined> = params;
  for (const { aside } of claims) {
    if (!aside) continue;
    changed = changed instanceof Promise ? changed.then((now) => aside(method, now)) : aside(method, changed);
  }
  return changed instanceof Promise ? changed.then(send) : send(changed);
}

/** The same for a notification. It is not sent if a layer withholds it. */
export function notifyThroughLayers(
  claims: readonly Claim[],
  uplink: Uplink,
  ...[method, params]: Parameters<Uplink["notify"]>
): void {
  const sent = throughLayers(claims, [method, params], (changed) => uplink.notify(method, changed));
  if (sent instanceof Promise) sent.catch(() => {});
}

function uplinkOfAll(claims: readonly Claim[], uplink: Uplink): Uplink {
  return {
    notify: (...said) => notifyThroughLayers(claims, uplink, ...said),
    request: async (method, params, ...more) =>
      await throughLayers(claims, [method, params], (changed) => uplink.request(method, changed, ...more)),
  };
}

/**
 * Messages of a task name the task. So while other calls are in flight, a message without a task belongs to
 * those.
 */
function apartFromTasks(claims: readonly Claim[]): readonly Claim[] {
  const calls = claims.filter(({ running }) => !running);
  return calls.length > 0 ? calls : claims;
}

/** Finds the client whose call runs the task. */
export function attributeToTask(claims: Iterable<Claim>, taskId: string): Attribution {
  for (const claim of claims)
    if (claim.running?.id === taskId) return { uplink: claim.uplink, claims: [claim] };
  return { refusal: "the task it belongs to is not running" };
}

/**
 * Sends a request of the child to the client it is for, with the timers of its calls paused. Rejects if the
 * client cannot be asked.
 */
export async function forwardRequest(
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
  // An id that is a string is the child's name for its question; a number is only a counter.
  const asking = isString(id) ? { name: fromRaw(id) as string, onProgress } : { onProgress };
  return await withTimersPaused(by, () => by.uplink.request(method, params, signal, asking));
}

/** Runs `ask` with the timers of the client's calls paused. */
export async function withTimersPaused<T>({ claims }: Attributed, ask: () => Promise<T>): Promise<T> {
  for (const claim of claims) claim.timer?.pause();
  try {
    return await ask();
  } finally {
    for (const claim of claims) claim.timer?.resume();
  }
}
