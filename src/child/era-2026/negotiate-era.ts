/**
 * Finds out which era a child speaks, and makes the handshake of that era. Over HTTP the stateless era is
 * tried first, as its specification asks of clients of both eras; a server without it answers with an error
 * status. On stdio `initialize` is tried first, because some servers fail on any other first message.
 */
import type { Clock } from "../../kernel/clock.ts";
import { EMPTY_OBJECT, fromRaw, type Raw } from "../../kernel/raw.ts";
import { ERA_2026_VERSION, META, UNSUPPORTED_VERSION } from "../../rpc/era-2026/names.ts";
import type { Peer } from "../../rpc/peer.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { elements, isObject, members } from "../../rpc/slice.ts";
import type { Dialect } from "../dialect.ts";
import { type HandshakeResult, shakeHands, textOf } from "../handshake.ts";
import { ChildFailure, type Link } from "../link.ts";
import { Sessionful } from "../sessionful.ts";
import { enclose, envelopeOf } from "./envelope.ts";
import { RequestHeaders } from "./request-headers.ts";
import { Stateless } from "./stateless.ts";

export interface NegotiationParts {
  readonly peer: Peer;
  readonly link: Link;
  /** Of the client for which the connection is opened. */
  readonly capabilities: Raw;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The era that the child spoke at its last handshake. */
  readonly known: string | undefined;
  warn(problem: string): void;
  /** A list changed, or a change may have been missed. */
  onListChanged(method: string): void;
}

export interface Negotiated {
  readonly handshake: HandshakeResult;
  readonly dialect: Dialect;
}

/** After this time without an answer, `server/discover` counts as refused. */
const DISCOVER_TIMEOUT_MS = 5_000;

/**
 * If both eras fail, it rejects with the error of `initialize`; the error of `server/discover` never hides
 * it.
 */
export async function negotiateEra(parts: NegotiationParts): Promise<Negotiated> {
  const { peer, link, capabilities, signal, clock, known } = parts;
  if (known === "2026" || (known === undefined && link.stateless)) {
    const discovered = await discover(parts);
    if (discovered) return discovered;
    signal.throwIfAborted();
  }
  try {
    return { handshake: await shakeHands(peer, capabilities, signal), dialect: new Sessionful(peer, clock) };
  } catch (error) {
    const discovered = !signal.aborted && refused(error) ? await discover(parts) : undefined;
    if (discovered) return discovered;
    if (!(error instanceof RpcError)) throw error;
    throw new ChildFailure("other", `it refused the handshake: ${error.message}`, { cause: error });
  }
}

/** Whether the child answered `initialize` with a refusal. Over HTTP that may be only a status. */
function refused(error: unknown): boolean {
  if (error instanceof ChildFailure) return error.category === "other" && !error.unsent;
  return error instanceof RpcError;
}

async function discover(parts: NegotiationParts): Promise<Negotiated | undefined> {
  const { peer, link, capabilities, signal, clock } = parts;
  const headers = new RequestHeaders();
  link.stateless?.((message) => headers.of(message));
  const timeout = new AbortController();
  const timer = clock.after(DISCOVER_TIMEOUT_MS, () => timeout.abort());
  try {
    const params = enclose(undefined, envelopeOf(capabilities));
    const both = AbortSignal.any([signal, timeout.signal]);
    const ask = (): Promise<Raw> => peer.request("server/discover", params, { signal: both });
    const result = await ask().catch((error: unknown) => {
      // A child that refuses our version but lists it as supported is asked once more.
      if (supportsOurVersion(error)) return ask();
      throw error;
    });
    return { handshake: readDiscovery(result), dialect: new Stateless(parts, headers) };
  } catch (error) {
    link.stateless?.(undefined);
    // A server that requires login would refuse `initialize` too.
    if (error instanceof ChildFailure && error.category === "auth") throw error;
    return undefined;
  } finally {
    timer.cancel();
  }
}

function supportsOurVersion(error: unknown): boolean {
  if (!(error instanceof RpcError) || error.code !== UNSUPPORTED_VERSION) return false;
  const { supported } = (error.data ?? {}) as { supported?: unknown };
  return Array.isArray(supported) && supported.includes(ERA_2026_VERSION);
}

/** Throws if the answer is invalid or contains no version that we support. */
function readDiscovery(result: Raw): HandshakeResult {
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
