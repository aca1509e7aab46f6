/**
 * Cached answers of the API. All components that show one share a request; it is repeated after events that
 * may have changed the answer.
 */
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { ItemOf, ListPath, ReadPath, Reads } from "../../src/admin/route-types.ts";
import { ApiProblem, getPages, getText, itemsOf, type Params, urlOf } from "../api/client.ts";
import { type LiveEvent, listen } from "./events.ts";

/** After a failed refresh, `value` is the last known value. */
export type Loaded<T> =
  | { readonly state: "loading"; readonly value?: undefined; readonly problem?: undefined }
  | { readonly state: "failed"; readonly value?: T; readonly problem: ApiProblem }
  | { readonly state: "ready"; readonly value: T; readonly problem?: undefined };

export interface RefreshRule {
  /** Types of events after which the answer may have changed. */
  readonly on?: readonly LiveEvent["type"][];
  /** Selects single events. */
  readonly when?: (event: LiveEvent) => boolean;
  /** Polls, for data that no event announces. */
  readonly everyMs?: number;
}

/** Config objects: servers, namespaces, endpoints, settings. */
export const CONFIG: RefreshRule = { on: ["revision"] };
/** Servers with their states. */
export const STATES: RefreshRule = { on: ["revision", "connection", "breaker", "update", "tools"] };
/** Problems that need attention. */
export const ATTENTION: RefreshRule = {
  on: [...(STATES.on ?? []), "approval", "store", "audit", "changed"],
};

/** Events often come in groups. After a short wait one request covers all of them. */
const BATCH_MS = 80;
const MIN_INTERVAL_MS = 400;
/** How long an unused answer is kept, so that a page shows data at once when somebody comes back to it. */
const KEEP_MS = 30_000;

interface CacheEntry {
  readonly loaded: Signal<Loaded<unknown>>;
  readonly read: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly value: (texts: readonly string[]) => unknown;
  readonly users: Set<RefreshRule>;
  texts: readonly string[];
  reading: AbortController | undefined;
  readAgain: boolean;
  readAt: number;
  readTimer: ReturnType<typeof setTimeout> | undefined;
  evictTimer: ReturnType<typeof setTimeout> | undefined;
}

const cache = new Map<string, CacheEntry>();

/** Reads one answer. With undefined params it sends no request. */
export function useResource<P extends ReadPath>(
  path: P,
  params: Params | undefined,
  rule: RefreshRule,
): ReadonlySignal<Loaded<Reads[P]>> {
  return useCached<Reads[P]>(params && urlOf(path, params), rule, () => ({
    read: async (signal) => [await getText(path, params, signal)],
    value: ([text = ""]) => JSON.parse(text) as unknown,
  }));
}

/** Reads all items of a list, from all pages. */
export function useList<P extends ListPath>(
  path: P,
  params: Params | undefined,
  rule: RefreshRule,
): ReadonlySignal<Loaded<readonly ItemOf<P>[]>> {
  return useCached<readonly ItemOf<P>[]>(params && `all ${urlOf(path, params)}`, rule, () => ({
    read: (signal) => getPages(path, params, signal),
    value: (texts) => itemsOf<P>(texts),
  }));
}

/**
 * Reads all cached answers of this path and of paths below it again, after a change that no event announces.
 */
export function refresh(path: string): void {
  for (const [key, entry] of cache) if (key.includes(urlOf(path, {}))) void read(entry);
}

/** Deletes everything, so that the next person sees nothing of it. */
export function clearCache(): void {
  for (const [key, entry] of cache) evict(key, entry);
}

const LOADING = signal<Loaded<never>>({ state: "loading" });

function useCached<T>(
  key: string | undefined,
  rule: RefreshRule,
  make: () => Pick<CacheEntry, "read" | "value">,
): ReadonlySignal<Loaded<T>> {
  const entry = useMemo(() => (key === undefined ? undefined : entryFor(key, make)), [key]);
  useEffect(() => {
    if (key === undefined || !entry) return undefined;
    const use = { ...rule };
    entry.users.add(use);
    clearTimeout(entry.evictTimer);
    const timer = use.everyMs === undefined ? undefined : setInterval(() => void read(entry), use.everyMs);
    return () => {
      clearInterval(timer);
      entry.users.delete(use);
      if (entry.users.size === 0) entry.evictTimer = setTimeout(() => evict(key, entry), KEEP_MS);
    };
  }, [key]);
  return (entry?.loaded ?? LOADING) as ReadonlySignal<Loaded<T>>;
}

function entryFor(key: string, make: () => Pick<CacheEntry, "read" | "value">): CacheEntry {
  const known = cache.get(key);
  if (known) {
    // Two parts of one page ask for it in one turn, before either is a user.
    if (known.users.size === 0 && !known.reading) void read(known);
    return known;
  }
  const entry: CacheEntry = {
    ...make(),
    loaded: signal<Loaded<unknown>>({ state: "loading" }),
    users: new Set(),
    texts: [],
    reading: undefined,
    readAgain: false,
    readAt: 0,
    readTimer: undefined,
    evictTimer: undefined,
  };
  entry.evictTimer = setTimeout(() => evict(key, entry), KEEP_MS);
  cache.set(key, entry);
  void read(entry);
  return entry;
}

function evict(key: string, entry: CacheEntry): void {
  if (cache.get(key) === entry) cache.delete(key);
  entry.reading?.abort();
  clearTimeout(entry.readTimer);
  clearTimeout(entry.evictTimer);
}

async function read(entry: CacheEntry): Promise<void> {
  if (entry.reading) {
    entry.readAgain = true;
    return;
  }
  const reading = new AbortController();
  const { signal } = reading;
  entry.reading = reading;
  entry.readAt = Date.now();
  try {
    const texts = await entry.read(signal);
    const same = texts.length === entry.texts.length && texts.every((text, at) => text === entry.texts[at]);
    // An equal answer must not render the page again.
    if (!same || entry.loaded.peek().state !== "ready") {
      entry.texts = texts;
      entry.loaded.value = { state: "ready", value: entry.value(texts) };
    }
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof ApiProblem)) throw error;
    const { value } = entry.loaded.peek();
    entry.loaded.value = { state: "failed", problem: error, ...(value !== undefined && { value }) };
  } finally {
    entry.reading = undefined;
  }
  if (entry.readAgain) {
    entry.readAgain = false;
    scheduleRead(entry);
  }
}

function scheduleRead(entry: CacheEntry): void {
  const wait = Math.max(BATCH_MS, entry.readAt + MIN_INTERVAL_MS - Date.now());
  entry.readTimer ??= setTimeout(() => {
    entry.readTimer = undefined;
    void read(entry);
  }, wait);
}

listen((event) => {
  for (const entry of cache.values()) {
    const users = [...entry.users];
    // What is polled comes again soon, unless nobody has it at all.
    const comes = entry.reading !== undefined || entry.loaded.peek().state === "ready";
    const polled = comes && users.every(({ everyMs }) => everyMs !== undefined);
    const affected =
      event.type === "missed"
        ? !polled
        : users.some(({ on, when }) => on?.includes(event.type) || when?.(event));
    if (affected && users.length > 0) scheduleRead(entry);
  }
});
