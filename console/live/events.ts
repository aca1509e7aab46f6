/**
 * Live events of the gateway: one stream for all listeners. The stream reconnects after a failure. It is
 * closed while the tab is hidden, because browsers limit the connections to one host and each tab would hold
 * one.
 */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { LIVE_EVENT } from "../../src/admin/event-schemas.ts";
import type { Static } from "../../src/kernel/json-schema.ts";

type SentEvent = Static<typeof LIVE_EVENT>;
type SentType = SentEvent["type"];
export type CallEvent = Extract<SentEvent, { readonly type: "call" }>;
export type UpdateEvent = Extract<SentEvent, { readonly type: "update" }>;
export type LiveEvent =
  | Exclude<SentEvent, { readonly type: "hello" | "missed" }>
  /** Some events were lost: all cached data must be read again. */
  | { readonly type: "missed"; readonly at: string };

/** "offline": the gateway is unreachable. */
export type Connection = "live" | "reconnecting" | "offline";

/**
 * All types except calls and pool events, which are frequent. The gateway sends each role only the events it
 * may see.
 */
const DEFAULT_TYPES = [
  "connection",
  "breaker",
  "session",
  "revision",
  "update",
  "tools",
  "approval",
  "admin",
  "login",
  "store",
  "audit",
  "changed",
] as const satisfies SentType[];
const RETRY_MS = [500, 1_000, 2_000, 5_000];
const CLOSE_HIDDEN_MS = 5_000;

const state = signal<Connection>("reconnecting");
export const connection: ReadonlySignal<Connection> = state;

const version = signal<{ readonly first?: string; readonly now?: string }>({});
/** True if the gateway has another version than the one that served this page. */
export const outdated = computed(() => version.value.first !== version.value.now);

type Listener = (event: LiveEvent) => void;
const listeners = new Set<Listener>();
let callListeners = 0;
let source: EventSource | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let failures = 0;
let started = false;

/** Returns a function that stops listening. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * Calls are frequent, so the stream contains them only while there are listeners. Returns a function that
 * stops listening.
 */
export function listenToCalls(listener: (call: CallEvent) => void): () => void {
  const end = listen((event) => event.type === "call" && listener(event));
  callListeners += 1;
  if (callListeners === 1) openStream();
  return () => {
    end();
    callListeners -= 1;
    if (callListeners === 0) openStream();
  };
}

/** Called after a login. */
export function startLive(): void {
  if (started) return;
  started = true;
  failures = 0;
  openStream();
}

export function stopLive(): void {
  started = false;
  closeStream();
}

/** Called after a request without an answer, which the stream may not have noticed yet. */
export function reportOffline(): void {
  if (!started || state.peek() === "offline") return;
  state.value = "offline";
  closeStream();
  retryLater();
}

document.addEventListener("visibilitychange", () => {
  clearTimeout(timer);
  if (document.hidden) timer = setTimeout(closeStream, CLOSE_HIDDEN_MS);
  else if (started && !source) openStream();
});

function closeStream(): void {
  clearTimeout(timer);
  source?.close();
  source = undefined;
}

function openStream(): void {
  closeStream();
  if (!started || document.hidden) return;
  const types = callListeners > 0 ? [...DEFAULT_TYPES, "call"] : DEFAULT_TYPES;
  const opened = new EventSource(`/api/v1/events?types=${types.join(",")}`);
  source = opened;
  opened.onerror = () => {
    if (source !== opened) return;
    // EventSource would reconnect by itself, but without telling why it fails.
    closeStream();
    void checkGateway();
  };
  opened.addEventListener("hello", (message) => onHello(JSON.parse(message.data as string)));
  opened.addEventListener("missed", emitMissed);
  for (const type of types)
    opened.addEventListener(type, (message) => emit(JSON.parse((message as MessageEvent<string>).data)));
}

function onHello(hello: Extract<SentEvent, { readonly type: "hello" }>): void {
  failures = 0;
  state.value = "live";
  version.value = { first: version.peek().first ?? hello.version, now: hello.version };
  emitMissed();
}

/** Finds out whether the gateway is reachable. An expired login shows in the next request. */
async function checkGateway(): Promise<void> {
  const reachable = await fetch("/healthz").then(
    ({ ok }) => ok,
    () => false,
  );
  if (!started || source) return;
  state.value = reachable ? "reconnecting" : "offline";
  // The gateway refused the stream. The requests caused by this event show the reason.
  if (reachable) emitMissed();
  retryLater();
}

function retryLater(): void {
  clearTimeout(timer);
  const wait = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 0;
  failures += 1;
  timer = setTimeout(openStream, wait);
}

function emitMissed(): void {
  emit({ type: "missed", at: new Date().toISOString() });
}

function emit(event: LiveEvent): void {
  for (const listener of listeners) listener(event);
}
