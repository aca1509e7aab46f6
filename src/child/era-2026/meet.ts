/**
 * Finds out which era a child speaks, on the one link there is. Over HTTP the stateless era comes first, as its protocol
 * asks of who speaks both, and costs a status where it is not understood. On stdio the handshake comes first: a server
 * may take anything else for an offence.
 */
import type { Clock } from "../../kernel/clock.ts";
import { EMPTY_OBJECT, fromRaw, type Raw } from "../../kernel/raw.ts";
import { ERA_2026_VERSION, META, UNSUPPORTED_VERSION } from "../../rpc/era-2026/names.ts";
import type { Peer } from "../../rpc/peer.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { elements, isObject, members } from "../../rpc/slice.ts";
import type { Dialect } from "../dialect.ts";
import { type Greeting, shakeHands, textOf } from "../handshake.ts";
import { ChildFailure, type Link } from "../link.ts";
import { Sessionful } from "../sessionful.ts";
import { enclose, envelopeOf } from "./envelope.ts";
import { RequestHeaders } from "./request-headers.ts";
import { Stateless } from "./stateless.ts";

export interface Meeting {
  readonly peer: Peer;
  readonly link: Link;
  /** Of the client on whose behalf it is met. */
  readonly capabilities: Raw;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** What it spoke when it was last met. */
  readonly known: string | undefined;
  warn(problem: string): void;
  /** A child of the stateless era was not heard for a while: this may have changed. */
  onListChanged(method: string): void;
}

export interface Met {
  readonly greeting: Greeting;
  readonly dialect: Dialect;
}

/** Whoever says nothing for so long to the question of this era is asked for a handshake. */
const PATIENCE_MS = 5_000;

/** Rejects as the handshake does: what a child says to the other question never hides why it refused this one. */
export async function meet(meeting: Meeting): Promise<Met> {
  const { peer, link, capabilities, signal, clock, known } = meeting;
  if (known === "2026" || (known === undefined && link.stateless)) {
    const met = await discover(meeting, PATIENCE_MS);
    if (met) return met;
    signal.throwIfAborted();
  }
  try {
    return { greeting: await shakeHands(peer, capabilities, signal), dialect: new Sessionful(peer, clock) };
  } catch (error) {
    const met = !signal.aborted && refused(error) ? await discover(meeting) : undefined;
    if (met) return met;
    if (!(error instanceof RpcError)) throw error;
    throw new ChildFailure("other", `it refused the handshake: ${error.message}`, { cause: error });
  }
}

/** It answered, and not with a handshake. Over HTTP that may be a status alone. */
function refused(error: unknown): boolean {
  if (error instanceof ChildFailure) return error.category === "other" && !error.unsent;
  return error instanceof RpcError;
}

async function discover(meeting: Meeting, patienceMs?: number): Promise<Met | undefined> {
  const { peer, link, capabilities, signal, clock } = meeting;
  const headers = new RequestHeaders();
  link.stateless?.((message) => headers.of(message));
  const patience = new AbortController();
  const timer = patienceMs === undefined ? undefined : clock.after(patienceMs, () => patience.abort());
  try {
    const params = enclose(undefined, envelopeOf(capabilities));
    const both = AbortSignal.any([signal, patience.signal]);
    const ask = (): Promise<Raw> => peer.request("server/discover", params, { signal: both });
    const result = await ask().catch((error: unknown) => {
      // A refusal that asks for the very version it was given is worth a second word.
      if (namesOurs(error)) return ask();
      throw error;
    });
    return { greeting: readDiscovery(result), dialect: new Stateless(meeting, headers) };
  } catch (error) {
    link.stateless?.(undefined);
    // Who wants a login wants it whatever is asked.
    if (error instanceof ChildFailure && error.category === "auth") throw error;
    return undefined;
  } finally {
    timer?.cancel();
  }
}

function namesOurs(error: unknown): boolean {
  if (!(error instanceof RpcError) || error.code !== UNSUPPORTED_VERSION) return false;
  const { supported } = (error.data ?? {}) as { supported?: unknown };
  return Array.isArray(supported) && supported.includes(ERA_2026_VERSION);
}

/** Throws for what is no such answer, or names no version that we speak. */
function readDiscovery(result: Raw): Greeting {
  const [versions, capabilities = EMPTY_OBJECT, meta = EMPTY_OBJECT, info, instructions] = members(result, [
    "supportedVersions",
    "capabilities",
    "_meta",
    "serverInfo",
    "instructions",
  ]);
  const spoken = versions ? elements(versions).map(fromRaw) : [];
  if (!spoken.includes(ERA_2026_VERSION) || !isObject(capabilities))
    throw new ChildFailure("other", "its answer to server/discover is invalid");
  const [server = info ?? EMPTY_OBJECT] = members(meta, [META.server]);
  const [title, name, version] = members(server, ["title", "name", "version"]).map(textOf);
  return {
    era: "2026",
    protocolVersion: ERA_2026_VERSION,
    capabilities,
    title: title ?? name,
    version,
    instructions: textOf(instructions),
  };
}
