/**
 * Reads and removes the envelope that every request of the stateless era has in `_meta`. Does not look at the
 * method's own params.
 */
import { asRaw, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { META } from "../../rpc/era-2026/names.ts";
import type { Message } from "../../rpc/message.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { entries, isObject, isString, joinObject, member, members } from "../../rpc/slice.ts";
import { LONGEST_CAPABILITIES, LONGEST_CLIENT_INFO } from "../handshake.ts";

export interface Envelope {
  readonly version: string;
  /** Declared with this request and valid only for it. */
  readonly capabilities: Raw;
  /** Undefined if the client wants no log messages. */
  readonly logLevel: string | undefined;
  readonly progressToken: Raw | undefined;
  /** The client's `clientInfo`. */
  readonly client: Raw | undefined;
}

const PREFIX = Buffer.from("io.modelcontextprotocol");
const KEYS = [META.version, META.capabilities, META.logLevel, "progressToken", META.client];
/** Not forwarded: the connection to the child declares its own values. */
const REMOVED: ReadonlySet<string> = new Set([META.version, META.capabilities, META.client]);

/** Whether a request or notification claims to be of this era. Its envelope may still be invalid. */
export function claimsEra2026(message: Message): boolean {
  if (message.kind !== "request" && message.kind !== "notification") return false;
  if (message.method === "server/discover") return true;
  const { params } = message;
  // Searching the bytes for this prefix is far cheaper than parsing the params.
  if (!params?.includes(PREFIX)) return false;
  const meta = member(params, "_meta");
  return meta !== undefined && member(meta, META.version) !== undefined;
}

/** Throws RpcError if a member is missing or has the wrong type. */
export function readEnvelope(params: Raw | undefined): Envelope {
  const [meta] = params && isObject(params) ? members(params, ["_meta"]) : [];
  if (!meta || !isObject(meta)) throw invalid("_meta is missing");
  const [version, capabilities, level, token, client] = members(meta, KEYS);
  if (!version || !isString(version)) throw invalid(`_meta needs the text ${META.version}`);
  if (!capabilities || !isObject(capabilities)) throw invalid(`_meta needs the object ${META.capabilities}`);
  if (capabilities.length > LONGEST_CAPABILITIES)
    throw invalid(`${META.capabilities} may have at most ${LONGEST_CAPABILITIES} bytes`);
  if (level && !isString(level)) throw invalid(`${META.logLevel} must be a text`);
  return {
    version: fromRaw(version) as string,
    // Copied, because connections keep it longer than the request's buffer.
    capabilities: asRaw(Buffer.from(capabilities)),
    logLevel: level && (fromRaw(level) as string),
    progressToken: token,
    client: client && client.length <= LONGEST_CLIENT_INFO ? asRaw(Buffer.from(client)) : undefined,
  };
}

/** The state and the answers that a client sends with a retry. */
export interface Retry {
  readonly state: string | undefined;
  /** Keyed by the name of the question. */
  readonly answers: ReadonlyMap<string, Raw>;
}

/** Throws RpcError if a member has the wrong type. Ignores answers that are not objects. */
export function readRetry(params: Raw): Retry {
  const [state, responses] = members(params, ["requestState", "inputResponses"]);
  if (state && !isString(state)) throw invalid("requestState must be the text that the server returned");
  if (responses && !isObject(responses)) throw invalid("inputResponses must be an object");
  const given = responses ? entries(responses).filter(([, answer]) => isObject(answer)) : [];
  return { state: state && (fromRaw(state) as string), answers: new Map(given) };
}

/** Returns the params without the members of this era. `retries`: the method allows retries with answers. */
export function bareParams(params: Raw, retries = true): Raw {
  const kept: [string, Raw][] = [];
  for (const [key, value] of entries(params)) {
    if (retries && (key === "inputResponses" || key === "requestState")) continue;
    const bare = key === "_meta" ? bareMeta(value) : value;
    if (bare) kept.push([key, bare]);
  }
  return joinObject(kept);
}

function bareMeta(meta: Raw): Raw | undefined {
  const kept = entries(meta).filter(([key]) => !REMOVED.has(key));
  return kept.length > 0 ? joinObject(kept) : undefined;
}

function invalid(problem: string): RpcError {
  return new RpcError(toRaw({ code: INVALID_PARAMS, message: `Invalid params: ${problem}` }));
}
