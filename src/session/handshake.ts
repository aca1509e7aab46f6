/** Reads the params of `initialize` and chooses the protocol version. Keeps no state and sends nothing. */
import { EMPTY_OBJECT, kept, type Raw, scalarOf, toRaw } from "../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../rpc/rpc-error.ts";
import { isObject, joinObject, members } from "../rpc/slice.ts";

export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** The first version with structured results. */
const STRUCTURED_SINCE = "2025-06-18";
/** The only version with batches. */
const BATCHES_IN = "2025-03-26";
/** `clientInfo` is shown to people. A longer one is ignored. */
export const LONGEST_CLIENT_INFO = 4_096;
/** Each session, and each connection for it, keeps them. */
export const LONGEST_CAPABILITIES = 65_536;
/** Versions are dates. */
const LONGEST_VERSION = 64;

export interface Handshake {
  /** The version that the client asked for. */
  readonly wanted: string;
  /** The client's version if it is known, else our newest. */
  readonly version: string;
  readonly capabilities: Raw;
  /** The client's `clientInfo`. */
  readonly client: Raw | undefined;
  /** The client's version has no structured results. */
  readonly textOnly: boolean;
  /** The client's version has batches. */
  readonly batches: boolean;
}

/** Throws RpcError for invalid params. Copies what it keeps, so that the message's buffer can be freed. */
export function readHandshake(params: Raw | undefined): Handshake {
  const [version, capabilities = EMPTY_OBJECT, client] = params
    ? members(params, ["protocolVersion", "capabilities", "clientInfo"])
    : [];
  const wanted = scalarOf(version);
  if (typeof wanted !== "string" || wanted.length > LONGEST_VERSION || !isObject(capabilities))
    throw RpcError.of(INVALID_PARAMS, "initialize needs a protocolVersion and an object of capabilities");
  if (capabilities.length > LONGEST_CAPABILITIES)
    throw RpcError.of(INVALID_PARAMS, `capabilities may have at most ${LONGEST_CAPABILITIES} bytes`);
  return {
    wanted,
    version: LEGACY_VERSIONS.find((known) => known === wanted) ?? LEGACY_VERSIONS[0],
    capabilities: kept(capabilities),
    client: client && client.length <= LONGEST_CLIENT_INFO ? kept(client) : undefined,
    // Versions are dates, so they compare as text.
    textOnly: wanted < STRUCTURED_SINCE,
    batches: wanted === BATCHES_IN,
  };
}

/** Params that `readHandshake` reads as the same handshake. */
export function writeHandshake({ wanted, capabilities, client }: Handshake): Raw {
  return joinObject([
    ["protocolVersion", toRaw(wanted)],
    ["capabilities", capabilities],
    ["clientInfo", client],
  ]);
}
