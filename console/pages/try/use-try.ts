/** A call that is tried out: everything that came of it so far. */
import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { ApiProblem } from "../../api/client.ts";
import { type Told, type TryCall, tryCall } from "../../api/try-call.ts";

export interface Tried {
  readonly running: ReadonlySignal<boolean>;
  readonly told: ReadonlySignal<readonly Told[]>;
  readonly problem: ReadonlySignal<ApiProblem | undefined>;
  readonly start: (call: TryCall) => void;
  readonly cancel: () => void;
}

/** More than that nobody reads. */
const MOST = 500;

export function useTry(): Tried {
  const running = useSignal(false);
  const told = useSignal<readonly Told[]>([]);
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const ending = useRef<AbortController>(undefined);
  const run = async (call: TryCall, mine: AbortController) => {
    running.value = true;
    told.value = [];
    problem.value = undefined;
    try {
      for await (const one of tryCall(call, mine.signal)) told.value = withNext(told.value, one);
    } catch (error) {
      if (mine.signal.aborted) return;
      if (!(error instanceof ApiProblem)) throw error;
      problem.value = error;
    } finally {
      if (ending.current === mine) running.value = false;
    }
  };
  return {
    running,
    told,
    problem,
    start(call) {
      ending.current?.abort();
      const mine = new AbortController();
      ending.current = mine;
      void run(call, mine);
    },
    cancel() {
      ending.current?.abort();
      running.value = false;
    },
  };
}

/** How it began is kept, and of all progress the last. */
function withNext(told: readonly Told[], next: Told): readonly Told[] {
  const [begun, ...rest] = told;
  if (!begun) return [next];
  const kept = next.event.type === "progress" ? rest.filter(({ event }) => event.type !== "progress") : rest;
  return [begun, ...kept.slice(-MOST), next];
}
