/**
 * What a client has set in its session, so that another process can set it again: the log level and
 * subscriptions. Pure.
 */
import { type Raw, scalarOf, toRaw } from "../kernel/raw.ts";
import { members } from "../rpc/slice.ts";

export interface KeptState {
  readonly level?: string;
  /** URIs of resources. */
  readonly subscribed?: readonly string[];
}

export const NOTHING_KEPT: KeptState = {};
const [SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE] = [
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
];
/** More than these are not kept. */
const MAX_SUBSCRIBED = 1_000;

export function isKept(method: string): boolean {
  return method === SET_LEVEL || method === SUBSCRIBE || method === UNSUBSCRIBE;
}

/** The state after a request that succeeded. */
export function keptAfter(before: KeptState, method: string, params: Raw | undefined): KeptState {
  const [raw] = params ? members(params, [method === SET_LEVEL ? "level" : "uri"]) : [];
  const value = scalarOf(raw);
  if (typeof value !== "string") return before;
  if (method === SET_LEVEL) return { ...before, level: value };
  const others = (before.subscribed ?? []).filter((uri) => uri !== value);
  const subscribed = method === SUBSCRIBE ? [...others, value].slice(-MAX_SUBSCRIBED) : others;
  return { ...before, subscribed };
}

/** The requests that set it again. */
export function requestsFor({
  level,
  subscribed = [],
}: KeptState): readonly { method: string; params: Raw }[] {
  return [
    ...(level === undefined ? [] : [{ method: SET_LEVEL as string, params: toRaw({ level }) }]),
    ...subscribed.map((uri) => ({ method: SUBSCRIBE as string, params: toRaw({ uri }) })),
  ];
}
