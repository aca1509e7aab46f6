/** Answers of the API that stay fresh: read once for all who show them, and again when an event says that they may have changed. */
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ApiProblem, getPages, getText, itemsOf, type Params, urlOf } from "../api/client.ts";
import type { ItemOf, ListPath, ReadPath, Reads } from "../api/routes.ts";
import { type LiveEvent, listen } from "./events.ts";

/** A refresh that fails keeps what was known, as `value`. */
export type Loaded<T> =
  | { readonly state: "loading"; readonly value?: undefined; readonly problem?: undefined }
  | { readonly state: "failed"; readonly value?: T; readonly problem: ApiProblem }
  | { readonly state: "ready"; readonly value: T; readonly problem?: undefined };

export interface Refreshing {
  /** The types of events after which it may be another. */
  readonly on?: readonly LiveEvent["type"][];
  /** Or exactly these events. */
  readonly when?: (event: LiveEvent) => boolean;
  /** What no event tells. */
  readonly everyMs?: number;
}

/** Objects that are configured: servers, namespaces, endpoints, settings. */
export const CONFIG: Refreshing = { on: ["revision"] };
/** Servers with their states. */
export const STATES: Refreshing = { on: ["revision", "connection", "breaker", "update", "tools"] };
/** What is wrong now. */
export const ATTENTION: Refreshing = {
  on: [...(STATES.on ?? []), "approval", "store", "audit", "changed"],
};

/** Events come in swarms: they are waited for a little, and one read answers all of them. */
const GATHER_MS = 80;
const LEAST_BETWEEN_MS = 400;
/** Somebody who comes back to a page sees at once what it showed. */
const KEEP_MS = 30_000;

interface Kept {
  readonly loaded: Signal<Loaded<unknown>>;
  readonly read: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly value: (texts: readonly string[]) => unknown;
  readonly users: Set<Refreshing>;
  texts: readonly string[];
  reading: AbortController | undefined;
  again: boolean;
  readAt: number;
  gathering: ReturnType<typeof setTimeout> | undefined;
  forgetting: ReturnType<typeof setTimeout> | undefined;
}

const kept = new Map<string, Kept>();

/** One answer. Undefined params: nothing is asked for yet. */
export function useResource<P extends ReadPath>(
  path: P,
  params: Params | undefined,
  refreshing: Refreshing,
): ReadonlySignal<Loaded<Reads[P]>> {
  return useKept<Reads[P]>(params && urlOf(path, params), refreshing, () => ({
    read: async (signal) => [await getText(path, params, signal)],
    value: ([text = ""]) => JSON.parse(text) as unknown,
  }));
}

/** All items of a list, however many pages it has. */
export function useList<P extends ListPath>(
  path: P,
  params: Params | undefined,
  refreshing: Refreshing,
): ReadonlySignal<Loaded<readonly ItemOf<P>[]>> {
  return useKept<readonly ItemOf<P>[]>(params && `all ${urlOf(path, params)}`, refreshing, () => ({
    read: (signal) => getPages(path, params, signal),
    value: (texts) => itemsOf<P>(texts),
  }));
}

/** Reads anew what was read from here, and from below it: after a change that no event tells. */
export function refresh(path: string): void {
  for (const [key, one] of kept) if (key.includes(urlOf(path, {}))) void read(one);
}

/** Nothing of what one person was shown is left for the next. */
export function forgetAll(): void {
  for (const [key, one] of kept) forget(key, one);
}

const LOADING = signal<Loaded<never>>({ state: "loading" });

function useKept<T>(
  key: string | undefined,
  refreshing: Refreshing,
  make: () => Pick<Kept, "read" | "value">,
): ReadonlySignal<Loaded<T>> {
  const one = useMemo(() => (key === undefined ? undefined : keep(key, make)), [key]);
  useEffect(() => {
    if (key === undefined || !one) return undefined;
    const use = { ...refreshing };
    one.users.add(use);
    clearTimeout(one.forgetting);
    const timer = use.everyMs === undefined ? undefined : setInterval(() => void read(one), use.everyMs);
    return () => {
      clearInterval(timer);
      one.users.delete(use);
      if (one.users.size === 0) one.forgetting = setTimeout(() => forget(key, one), KEEP_MS);
    };
  }, [key]);
  return (one?.loaded ?? LOADING) as ReadonlySignal<Loaded<T>>;
}

function keep(key: string, make: () => Pick<Kept, "read" | "value">): Kept {
  const known = kept.get(key);
  if (known) {
    if (known.users.size === 0) void read(known);
    return known;
  }
  const one: Kept = {
    ...make(),
    loaded: signal<Loaded<unknown>>({ state: "loading" }),
    users: new Set(),
    texts: [],
    reading: undefined,
    again: false,
    readAt: 0,
    gathering: undefined,
    forgetting: undefined,
  };
  one.forgetting = setTimeout(() => forget(key, one), KEEP_MS);
  kept.set(key, one);
  void read(one);
  return one;
}

function forget(key: string, one: Kept): void {
  if (kept.get(key) === one) kept.delete(key);
  one.reading?.abort();
  clearTimeout(one.gathering);
  clearTimeout(one.forgetting);
}

async function read(one: Kept): Promise<void> {
  if (one.reading) {
    one.again = true;
    return;
  }
  const reading = new AbortController();
  const { signal } = reading;
  one.reading = reading;
  one.readAt = Date.now();
  try {
    const texts = await one.read(signal);
    const same = texts.length === one.texts.length && texts.every((text, at) => text === one.texts[at]);
    // What is the same is not shown anew.
    if (!same || one.loaded.peek().state !== "ready") {
      one.texts = texts;
      one.loaded.value = { state: "ready", value: one.value(texts) };
    }
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof ApiProblem)) throw error;
    const { value } = one.loaded.peek();
    one.loaded.value = { state: "failed", problem: error, ...(value !== undefined && { value }) };
  } finally {
    one.reading = undefined;
  }
  if (one.again) {
    one.again = false;
    gather(one);
  }
}

function gather(one: Kept): void {
  const wait = Math.max(GATHER_MS, one.readAt + LEAST_BETWEEN_MS - Date.now());
  one.gathering ??= setTimeout(() => {
    one.gathering = undefined;
    void read(one);
  }, wait);
}

listen((event) => {
  for (const one of kept.values()) {
    const wanted = [...one.users].some(
      ({ on, when }) => event.type === "missed" || on?.includes(event.type) || when?.(event),
    );
    if (wanted) gather(one);
  }
});
