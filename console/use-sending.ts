/** State of a request that changes something: whether it is in flight, and why the gateway refused it. */
import { useSignal } from "@preact/signals";
import { ApiProblem } from "./api/client.ts";

export interface Sending {
  readonly busy: boolean;
  readonly problem: ApiProblem | undefined;
  /** The error of one field, by its JSON Pointer: `/password`. The field shows it. */
  readonly faultOf: (path: string) => string | undefined;
  /** Resolves with false if the gateway refused the request, or if another one is in flight. */
  readonly run: (send: () => Promise<unknown>) => Promise<boolean>;
  readonly clear: () => void;
}

/** The error of a field, or of a value inside of it. */
export function faultIn(problem: ApiProblem | undefined, path: string): string | undefined {
  return problem?.errors.find((fault) => isIn(fault.path, path))?.message;
}

export function isIn(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}/`);
}

export function useSending(): Sending {
  const busy = useSignal(false);
  const problem = useSignal<ApiProblem | undefined>(undefined);
  return {
    busy: busy.value,
    problem: problem.value,
    faultOf(path) {
      const fault = problem.value?.errors.find((one) => one.path === path);
      if (fault) problem.value?.shown.add(path);
      return fault?.message;
    },
    async run(send) {
      if (busy.peek()) return false;
      busy.value = true;
      problem.value = undefined;
      try {
        await send();
        return true;
      } catch (error) {
        if (!(error instanceof ApiProblem)) throw error;
        problem.value = error;
        return false;
      } finally {
        busy.value = false;
      }
    },
    clear() {
      problem.value = undefined;
    },
  };
}
