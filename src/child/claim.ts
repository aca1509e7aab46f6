/** One caller's hold on a connection: who to turn to when the child asks back, and what a second attempt depends on. */
import type { Call, Origin, Repeat, Uplink } from "../kernel/call.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import type { Incoming, Via } from "../rpc/peer.ts";
import { INTERNAL_ERROR, RpcError } from "../rpc/rpc-error.ts";
import { isString } from "../rpc/slice.ts";
import type { Breaker } from "./breaker.ts";
import type { CallTimer } from "./call-timer.ts";
import type { Episode } from "./retry.ts";

/** The death of one connection under calls, until it is known whether a second attempt cured it. */
export interface Death {
  episode: Episode;
  /** Whether its calls get a respawn. */
  readonly respawn: boolean;
}

export interface Claim {
  readonly origin: Origin;
  readonly uplink: Uplink;
  readonly repeat: Repeat;
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
  { origin, uplink, repeat }: Pick<Call, "origin" | "uplink" | "repeat">,
  admitted: Breaker,
): Claim {
  return {
    origin,
    uplink,
    repeat,
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

/** Who had a call, and gave it up. */
export interface Gone {
  readonly session: string;
  readonly caller: string | undefined;
}

/** Who a message of the child is for: found, or why it cannot be known. */
export type Attribution =
  | { readonly uplink: Uplink; readonly claims: readonly Claim[] }
  | { readonly refusal: string };

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
  const all = [...claims];
  if (typeof via === "number") {
    const claim = all.find((other) => other.id === via);
    return claim
      ? { uplink: claim.uplink, claims: [claim] }
      : { refusal: "the call this belongs to has ended" };
  }
  const [first] = all;
  if (!first) return { refusal: "no call is in flight that could have caused this" };
  const { session, caller } = first.origin;
  // Without sessions those who show the same credential are the same, one after the other.
  const another = left.some(
    (gone) => gone.session !== session && (caller === undefined || gone.caller !== caller),
  );
  if (another || all.some((claim) => claim.origin.session !== session)) {
    return {
      refusal:
        'several clients use this connection and it is not known whose call caused this; isolation "session" makes it certain',
    };
  }
  return { uplink: all.length === 1 ? first.uplink : first.origin.uplink, claims: all };
}

/** Puts a request of the child to the client it is for, whose call stands still meanwhile. Rejects with why it cannot be. */
export async function passOn(
  { id, method, params, signal }: Incoming,
  by: Attribution,
  onProgress: (params: Raw) => void,
): Promise<Raw> {
  if ("refusal" in by) throw RpcError.of(INTERNAL_ERROR, `${method} cannot be passed on: ${by.refusal}`);
  // An id that is a text is what the child calls its question; a number only counts.
  const asking = isString(id) ? { name: fromRaw(id) as string, onProgress } : { onProgress };
  for (const claim of by.claims) claim.timer?.pause();
  try {
    return await by.uplink.request(method, params, signal, asking);
  } finally {
    for (const claim of by.claims) claim.timer?.resume();
  }
}
