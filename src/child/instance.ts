/** Which of several processes of one server a caller goes to. Decides only: it neither starts one nor looks for any. */
import type { ServerSpec } from "../config/spec.ts";

/** What no key of a connection holds. */
const SEPARATOR = "\n";

/** How many processes callers who agree may share. With isolation each session has its own already. */
export function instancesOf(spec: ServerSpec): number {
  return spec.kind === "stdio" && spec.isolation === "shared" ? spec.instances : 1;
}

/** The keys of all instances for callers who agree in `key`; the first goes by that key alone. */
export function instanceKeys(key: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, instance) => instanceKey(key, instance));
}

export function instanceKey(key: string, instance: number): string {
  return instance === 0 ? key : `${key}${SEPARATOR}${instance}`;
}

/** Of the first instance for the same callers. */
export function firstKey(key: string): string {
  const at = key.lastIndexOf(SEPARATOR);
  return at < 0 ? key : key.slice(0, at);
}

export function instanceOf(key: string): number {
  const at = key.lastIndexOf(SEPARATOR);
  return at < 0 ? 0 : Number(key.slice(at + SEPARATOR.length));
}

/** One that runs or is being started. */
export interface Load {
  /** In flight, those that wait for it to start included. */
  readonly calls: number;
  /** That stay on it. */
  readonly sessions: number;
}

export interface InstanceChoice {
  /** Other attempts of the same call are there. */
  readonly avoid?: ReadonlySet<number> | undefined;
  /** Whether there is room for one more process. */
  readonly mayStart: () => boolean;
}

/**
 * The one with the fewest calls, and of those the one with the fewest sessions. One more is started only where all that
 * run have calls in flight; where there is no room for it, the least loaded takes the call.
 */
export function leastLoaded(
  loads: readonly (Load | undefined)[],
  { avoid = new Set(), mayStart }: InstanceChoice,
): number {
  const running = loads.flatMap((load, instance) => (load ? [{ ...load, instance }] : []));
  const inOrder = running.sort((a, b) => a.calls - b.calls || a.sessions - b.sessions);
  const best = inOrder.find(({ instance }) => !avoid.has(instance));
  if (best?.calls === 0) return best.instance;
  const free = loads.findIndex((load, instance) => !load && !avoid.has(instance));
  if (free >= 0 && (inOrder.length === 0 || mayStart())) return free;
  return (best ?? inOrder[0])?.instance ?? 0;
}
