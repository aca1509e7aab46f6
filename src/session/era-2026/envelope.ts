/** What every request of the stateless era says about itself in `_meta`. Reads and takes it off; decides nothing about the method. */
import { asRaw, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { META } from "../../rpc/era-2026/names.ts";
import type { Message } from "../../rpc/message.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { entries, isObject, isString, joinObject, member, members } from "../../rpc/slice.ts";

export interface Envelope {
  readonly version: string;
  /** As declared with this request, and good for no other. */
  readonly capabilities: Raw;
  /** Undefined: the client wants no log messages. */
  readonly logLevel: string | undefined;
  readonly progressToken: Raw | undefined;
  /** What the client says of itself. */
  readonly client: Raw | undefined;
}

const PREFIX = Buffer.from("io.modelcontextprotocol");
const KEYS = [META.version, META.capabilities, META.logLevel, "progressToken", META.client];
/** It is shown to people: more than this is no name. */
const LONGEST_ABOUT = 4_096;
/** Ours to know; whoever answers the request is told on his own edge. */
const TAKEN: ReadonlySet<string> = new Set([META.version, META.capabilities, META.client]);

/** Whether a request or notification says that it is of this era, rightly or wrongly written. */
export function claimsEra2026(message: Message): boolean {
  if (message.kind !== "request" && message.kind !== "notification") return false;
  if (message.method === "server/discover") return true;
  const { params } = message;
  // Looking at every byte for a rare word is far cheaper than walking over the params.
  if (!params?.includes(PREFIX)) return false;
  const meta = member(params, "_meta");
  return meta !== undefined && member(meta, META.version) !== undefined;
}

/** Throws RpcError for what is missing or of the wrong kind. */
export function readEnvelope(params: Raw | undefined): Envelope {
  const [meta] = params && isObject(params) ? members(params, ["_meta"]) : [];
  if (!meta || !isObject(meta)) throw invalid("_meta is missing");
  const [version, capabilities, level, token, client] = members(meta, KEYS);
  if (!version || !isString(version)) throw invalid(`_meta needs the text ${META.version}`);
  if (!capabilities || !isObject(capabilities)) throw invalid(`_meta needs the object ${META.capabilities}`);
  if (level && !isString(level)) throw invalid(`${META.logLevel} must be a text`);
  return {
    version: fromRaw(version) as string,
    // A copy: connections remember it longer than the request lives.
    capabilities: asRaw(Buffer.from(capabilities)),
    logLevel: level && (fromRaw(level) as string),
    progressToken: token,
    client: client && client.length <= LONGEST_ABOUT ? asRaw(Buffer.from(client)) : undefined,
  };
}

/** What the client sent along with a retry. */
export interface Retry {
  readonly state: string | undefined;
  /** By the name of the question. */
  readonly answers: ReadonlyMap<string, Raw>;
}

/** Throws RpcError if it cannot be read. What is no object is no answer. */
export function readRetry(params: Raw): Retry {
  const [state, responses] = members(params, ["requestState", "inputResponses"]);
  if (state && !isString(state)) throw invalid("requestState must be the text that the server returned");
  if (responses && !isObject(responses)) throw invalid("inputResponses must be an object");
  const given = responses ? entries(responses).filter(([, answer]) => isObject(answer)) : [];
  return { state: state && (fromRaw(state) as string), answers: new Map(given) };
}

/** The params as the rest of the house knows them: without what belongs to the era. `retries`: it may be one with answers. */
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
  const kept = entries(meta).filter(([key]) => !TAKEN.has(key));
  return kept.length > 0 ? joinObject(kept) : undefined;
}

function invalid(problem: string): RpcError {
  return new RpcError(toRaw({ code: INVALID_PARAMS, message: `Invalid params: ${problem}` }));
}
