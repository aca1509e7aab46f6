/** Instances: the processes of one server that clients share. Chooses one for a caller; starts none. */
import type { ServerSpec } from "../config/spec.ts";

/** No key of a connection contains it. */
const SEPARATOR = "\n";

/**
 * Number of processes that clients with the same key may share. With isolation each session has its own
 * process.
 */
export function instancesOf(spec: ServerSpec): number {
  return spec.kind === "stdio" && spec.isolation === "shared" ? spec.instances : 1;
}

/** The keys of all instances for clients with this key. The first instance has the key itself. */
export function instanceKeys(key: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, instance) => instanceKey(key, instance));
}

export function instanceKey(key: string, instance: number): string {
  return instance === 0 ? key : `${key}${SEPARATOR}${instance}`;
}

/** The key of the first instance for the same clients. */
export function firstKey(key: string): string {
  const at = key.lastIndexOf(SEPARATOR);
  return at < 0 ? key : key.slice(0, at);
}

export function instanceOf(key: string): number {
  const at = key.lastIndexOf(SEPARATOR);
  return at < 0 ? 0 : Number(key.slice(at + SEPARATOR.length));
}

/** The load of an instance that runs or is being started. */
export interface Load {
  /** Calls in flight, including those that wait for the start. */
  readonly calls: number;
  /** Sessions bound to the instance. */
  readonly sessions: number;
}

export interface InstanceChoice {
  /** Instances that run other attempts of the same call. */
  readonly avoid?: ReadonlySet<number> | undefined;
  /** Whether the pool has room for one more process. */
  readonly mayStart: () => boolean;
}

/**
 * Chooses the instance with the fewest calls, and among those the one with the fewest sessions. A new
 * instance is chosen only if all running ones have calls in flight. If the pool has no room for it, the least
 * loaded one is chosen.
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
