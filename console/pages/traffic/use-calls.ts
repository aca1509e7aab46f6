/** The last calls that match the filters, newest first. Reads the list once and then adds live calls. */
import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiProblem, get } from "../../api/client.ts";
import type { RecentCall } from "../../api/types.ts";
import { type CallEvent, listen, listenToCalls } from "../../live/events.ts";
import type { Loaded } from "../../live/resource.ts";

export type CallLine = Pick<
  RecentCall,
  | "id"
  | "at"
  | "method"
  | "tool"
  | "outcome"
  | "code"
  | "by"
  | "durationMs"
  | "resultBytes"
  | "client"
  | "via"
  | "replica"
> & {
  readonly server: { readonly name: string };
  readonly endpoint: { readonly name: string };
  readonly principal: { readonly name: string };
};

export interface CallFilters {
  readonly method?: string | undefined;
  readonly outcome?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly server?: string | undefined;
  readonly replica?: string | undefined;
  readonly q?: string | undefined;
}

/** The gateway keeps the same number. */
const MAX_CALLS = 1_000;

export function useCalls(filters: CallFilters, paused: boolean): ReadonlySignal<Loaded<readonly CallLine[]>> {
  const calls = useSignal<Loaded<readonly CallLine[]>>({ state: "loading" });
  const view = JSON.stringify(filters);
  useEffect(() => {
    if (paused) return undefined;
    const reading = new AbortController();
    const arrived: CallLine[] = [];
    let frame: number | undefined;
    const add = (lines: readonly CallLine[]) => {
      const before = calls.peek().value ?? [];
      const known = new Set(before.map(({ id }) => id));
      const fresh = lines.filter(({ id }) => !known.has(id));
      calls.value = { state: "ready", value: [...fresh, ...before].slice(0, MAX_CALLS) };
    };
    const onCall = (event: CallEvent) => {
      if (!matchesFilters(event, filters)) return;
      arrived.unshift(event);
      // Calls that arrive within one frame are rendered together.
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        add(arrived.splice(0));
      });
    };
    const read = async () => {
      try {
        const page = await get("/calls", { limit: 500, ...filters }, reading.signal);
        calls.value = { state: "ready", value: page.items };
      } catch (error) {
        if (reading.signal.aborted) return;
        if (!(error instanceof ApiProblem)) throw error;
        calls.value = { state: "failed", problem: error };
      }
    };
    const ends = [listenToCalls(onCall), listen((event) => event.type === "missed" && void read())];
    void read();
    return () => {
      reading.abort();
      for (const end of ends) end();
      if (frame !== undefined) cancelAnimationFrame(frame);
    };
  }, [view, paused]);
  return calls;
}

function matchesFilters(
  call: CallLine,
  { method, outcome, endpoint, server, replica, q = "" }: CallFilters,
): boolean {
  const names = [
    call.tool,
    call.server.name,
    call.endpoint.name,
    call.principal.name,
    call.client?.name,
    call.code,
  ];
  return (
    (!method || (call.method ?? "tools/call") === method) &&
    (!outcome || call.outcome === outcome) &&
    (!endpoint || call.endpoint.name === endpoint) &&
    (!server || call.server.name === server) &&
    (!replica || call.replica === replica) &&
    names.some((name) => name?.toLowerCase().includes(q.toLowerCase()))
  );
}
