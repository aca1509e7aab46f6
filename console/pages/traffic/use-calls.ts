/** The last calls that match the filters, newest first. Reads the list once and then adds live calls. */
import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiProblem, get } from "../../api/client.ts";
import type { RecentCall } from "../../api/types.ts";
import { type CallEvent, listen, listenToCalls } from "../../live/events.ts";
import type { Loaded } from "../../live/resource.ts";
import { may } from "../../session.ts";

export type CallLine = Pick<
  RecentCall,
  | "id"
  | "at"
  | "method"
  | "tool"
  | "outcome"
  | "code"
  | "by"
  | "place"
  | "reason"
  | "results"
  | "durationMs"
  | "resultBytes"
  | "client"
  | "via"
  | "replica"
  | "session"
> & {
  readonly server: { readonly name: string };
  readonly endpoint: { readonly name: string };
  readonly principal: { readonly id: string; readonly name: string };
};

export interface CallFilters {
  readonly method?: string | undefined;
  readonly outcome?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly server?: string | undefined;
  readonly replica?: string | undefined;
  readonly principal?: string | undefined;
  readonly tool?: string | undefined;
  readonly code?: string | undefined;
  readonly by?: string | undefined;
  readonly client?: string | undefined;
  readonly session?: string | undefined;
  readonly q?: string | undefined;
}

/** The gateway keeps the same number. */
const MAX_CALLS = 1_000;
const PAGE = 500;
const AGAIN_MS = 1_000;

async function readAll(filters: CallFilters, signal: AbortSignal): Promise<readonly CallLine[]> {
  const all: CallLine[] = [];
  let cursor: string | undefined;
  do {
    const page = await get("/calls", { limit: PAGE, ...filters, cursor }, signal);
    all.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined && all.length < MAX_CALLS);
  return all;
}

export function useCalls(filters: CallFilters, paused: boolean): ReadonlySignal<Loaded<readonly CallLine[]>> {
  const calls = useSignal<Loaded<readonly CallLine[]>>({ state: "loading" });
  const view = JSON.stringify(filters);
  useEffect(() => {
    if (paused) return undefined;
    const reading = new AbortController();
    const arrived: CallLine[] = [];
    let frame: number | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    const add = (lines: readonly CallLine[]) => {
      const before = calls.peek().value ?? [];
      const known = new Set(before.map(({ id }) => id));
      const fresh = lines.filter(({ id }) => !known.has(id));
      calls.value = { state: "ready", value: [...fresh, ...before].slice(0, MAX_CALLS) };
    };
    const onCall = (event: CallEvent) => {
      if (!matchesFilters(event, filters)) return;
      arrived.unshift(event);
      // Events do not contain what the server said, so the list is read again for those who may see it.
      if (event.outcome === "error" && event.reason === undefined && may("arguments.read"))
        again ??= setTimeout(() => {
          again = undefined;
          void read();
        }, AGAIN_MS);
      // Calls that arrive within one frame are rendered together.
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        add(arrived.splice(0));
      });
    };
    const read = async () => {
      try {
        calls.value = { state: "ready", value: await readAll(filters, reading.signal) };
      } catch (error) {
        if (reading.signal.aborted) return;
        if (!(error instanceof ApiProblem)) throw error;
        calls.value = { state: "failed", problem: error };
      }
    };
    const ends = [
      listenToCalls(onCall),
      () => clearTimeout(again),
      listen((event) => event.type === "missed" && void read()),
    ];
    void read();
    return () => {
      reading.abort();
      for (const end of ends) end();
      if (frame !== undefined) cancelAnimationFrame(frame);
    };
  }, [view, paused]);
  return calls;
}

function matchesFilters(call: CallLine, filters: CallFilters): boolean {
  const { server, endpoint, principal, tool } = call;
  const is = (name: keyof CallFilters, ...values: readonly (string | undefined)[]) =>
    filters[name] === undefined || values.includes(filters[name]);
  const names = [tool, server.name, `${server.name}:${tool}`, endpoint.name, principal.name];
  const texts = [...names, call.client?.name, call.code, call.reason];
  const q = filters.q?.toLowerCase() ?? "";
  return (
    is("method", call.method ?? "tools/call") &&
    is("outcome", call.outcome) &&
    is("endpoint", endpoint.name) &&
    is("server", server.name) &&
    is("replica", call.replica) &&
    is("principal", principal.id, principal.name) &&
    is("tool", tool) &&
    is("code", call.code) &&
    is("by", call.by) &&
    is("client", call.client?.name) &&
    is("session", call.session) &&
    texts.some((text) => text?.toLowerCase().includes(q))
  );
}
