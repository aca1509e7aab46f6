/** Runs a call for the page Try it and collects its events. */
import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { ApiProblem } from "../../api/client.ts";
import { type RawTryEvent, type TryCall, tryCall } from "../../api/try-call.ts";

export interface TryState {
  readonly running: ReadonlySignal<boolean>;
  readonly events: ReadonlySignal<readonly RawTryEvent[]>;
  readonly problem: ReadonlySignal<ApiProblem | undefined>;
  readonly start: (call: TryCall) => void;
  readonly cancel: () => void;
}

/** Older events are dropped. */
const MAX_EVENTS = 500;

export function useTry(): TryState {
  const running = useSignal(false);
  const events = useSignal<readonly RawTryEvent[]>([]);
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const active = useRef<AbortController>(undefined);
  const run = async (call: TryCall, controller: AbortController) => {
    running.value = true;
    events.value = [];
    problem.value = undefined;
    try {
      for await (const one of tryCall(call, controller.signal)) events.value = withNext(events.value, one);
    } catch (error) {
      if (controller.signal.aborted) return;
      if (!(error instanceof ApiProblem)) throw error;
      problem.value = error;
    } finally {
      if (active.current === controller) running.value = false;
    }
  };
  return {
    running,
    events,
    problem,
    start(call) {
      active.current?.abort();
      const controller = new AbortController();
      active.current = controller;
      void run(call, controller);
    },
    cancel() {
      active.current?.abort();
      running.value = false;
    },
  };
}

/** Always keeps the first event, and only the last progress event. */
function withNext(events: readonly RawTryEvent[], next: RawTryEvent): readonly RawTryEvent[] {
  const [begun, ...rest] = events;
  if (!begun) return [next];
  const kept = next.event.type === "progress" ? rest.filter(({ event }) => event.type !== "progress") : rest;
  return [begun, ...kept.slice(-MAX_EVENTS), next];
}
