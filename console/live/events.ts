/**
 * What happens at the gateway, as it happens: one stream for all who listen. It is opened anew where it breaks, and shut while nobody
 * looks: a browser has few connections to one gateway, and each tab would keep one.
 */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type {
  AdminChange,
  ApprovalChanged,
  BreakerChanged,
  ConnectionChanged,
  LoginTried,
  PoolWaiting,
  RecordsChanged,
  RevisionServed,
  SessionChanged,
  StoreChanged,
  ToolsChanged,
  UpdateStep,
} from "../../src/kernel/events.ts";
import type { TOLD_TYPES } from "../../src/observe/live/told-event.ts";
import type { CallActor, CallRow, ClientName, Named } from "../api/types.ts";

/** JSON knows no undefined: it is not there. */
type Written<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> };
/** Times are ISO 8601 here, and servers have their names. */
type Told<E, More = unknown> = Written<Omit<E, "at" | "server" | keyof More>> & {
  readonly at: string;
} & More;
type AtServer = { readonly server: Named };
type By = { readonly principal: CallActor };

export type CallEvent = Told<CallRow, { readonly type: "call"; readonly id: number } & AtServer>;
export type UpdateEvent = Told<UpdateStep, AtServer>;
export type LiveEvent =
  | CallEvent
  | UpdateEvent
  | Told<ConnectionChanged, AtServer>
  | Told<BreakerChanged, AtServer>
  | Told<ToolsChanged, AtServer>
  | Told<ApprovalChanged, AtServer>
  | Told<PoolWaiting>
  | Told<RevisionServed>
  | Told<StoreChanged>
  | Told<RecordsChanged>
  | Told<LoginTried, Partial<By>>
  | Told<AdminChange, By>
  | Told<
      Omit<SessionChanged, "session">,
      By & { readonly id: string; readonly endpoint: Named; readonly client?: ClientName }
    >
  | { readonly type: "audit"; readonly at: string }
  /** Some were missed: whoever keeps something reads it anew. */
  | { readonly type: "missed"; readonly at: string };

type ToldType = (typeof TOLD_TYPES)[number];

/** "offline": the gateway cannot be reached at all. */
export type Connection = "live" | "reconnecting" | "offline";

/** All but calls and the pool, which are many. The gateway tells each role what it may see. */
const ALWAYS = [
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
] as const satisfies ToldType[];
const AGAIN_MS = [500, 1_000, 2_000, 5_000];
const HIDDEN_MS = 5_000;

const state = signal<Connection>("reconnecting");
export const connection: ReadonlySignal<Connection> = state;

const version = signal<{ readonly first?: string; readonly now?: string }>({});
/** The gateway that answers is another version than the one that this page came from. */
export const outdated = computed(() => version.value.first !== version.value.now);

type Listener = (event: LiveEvent) => void;
const listeners = new Set<Listener>();
let wantsCalls = 0;
let source: EventSource | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let failures = 0;
let watching = false;

/** Returns what ends it. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Calls are many: they are told only while somebody wants them. Returns what ends it. */
export function listenToCalls(listener: (call: CallEvent) => void): () => void {
  const end = listen((event) => event.type === "call" && listener(event));
  wantsCalls += 1;
  if (wantsCalls === 1) reopen();
  return () => {
    end();
    wantsCalls -= 1;
    if (wantsCalls === 0) reopen();
  };
}

/** From a login until it ends. */
export function startLive(): void {
  if (watching) return;
  watching = true;
  failures = 0;
  reopen();
}

export function stopLive(): void {
  watching = false;
  shut();
}

/** Somebody asked and got no answer: the stream may not have noticed yet. */
export function noticeOffline(): void {
  if (!watching || state.peek() === "offline") return;
  state.value = "offline";
  shut();
  later();
}

document.addEventListener("visibilitychange", () => {
  clearTimeout(timer);
  if (document.hidden) timer = setTimeout(shut, HIDDEN_MS);
  else if (watching && !source) reopen();
});

function shut(): void {
  clearTimeout(timer);
  source?.close();
  source = undefined;
}

function reopen(): void {
  shut();
  if (!watching || document.hidden) return;
  const types = wantsCalls > 0 ? [...ALWAYS, "call"] : ALWAYS;
  const opened = new EventSource(`/api/v1/events?types=${types.join(",")}`);
  source = opened;
  opened.onerror = () => {
    if (source !== opened) return;
    // It would try by itself, but never tell why it cannot.
    shut();
    void look();
  };
  opened.addEventListener("hello", (message) => greeted(JSON.parse(message.data as string)));
  opened.addEventListener("missed", missed);
  for (const type of types)
    opened.addEventListener(type, (message) => tell(JSON.parse((message as MessageEvent<string>).data)));
}

function greeted(hello: { readonly version: string }): void {
  failures = 0;
  state.value = "live";
  version.value = { first: version.peek().first ?? hello.version, now: hello.version };
  missed();
}

/** Whether the gateway is there. A login that ended is noticed by whoever asks next. */
async function look(): Promise<void> {
  const there = await fetch("/healthz").then(
    ({ ok }) => ok,
    () => false,
  );
  if (!watching || source) return;
  state.value = there ? "reconnecting" : "offline";
  // A stream that was refused: those who ask for something else find out what is wrong.
  if (there) missed();
  later();
}

function later(): void {
  clearTimeout(timer);
  const wait = AGAIN_MS[Math.min(failures, AGAIN_MS.length - 1)] ?? 0;
  failures += 1;
  timer = setTimeout(reopen, wait);
}

function missed(): void {
  tell({ type: "missed", at: new Date().toISOString() });
}

function tell(event: LiveEvent): void {
  for (const listener of listeners) listener(event);
}
