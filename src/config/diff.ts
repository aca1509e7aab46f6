/** What a new config changes for the servers in it. Pure; acting on it is for others. */
import { sameDial } from "./identity.ts";
import type { Config } from "./spec.ts";

/** By name. A server that is disabled or broken counts as not there. */
export interface ConfigDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** To be connected anew. */
  readonly redialed: readonly string[];
  /** Other settings only: connections stay. */
  readonly changed: readonly string[];
}

export function diff(before: Pick<Config, "servers">, after: Pick<Config, "servers">): ConfigDiff {
  const added: string[] = [];
  const redialed: string[] = [];
  const changed: string[] = [];
  for (const [name, spec] of after.servers) {
    const old = before.servers.get(name);
    if (!old) added.push(name);
    else if (!sameDial(old, spec)) redialed.push(name);
    else if (JSON.stringify(old) !== JSON.stringify(spec)) changed.push(name);
  }
  const removed = [...before.servers.keys()].filter((name) => !after.servers.has(name));
  return { added, removed, redialed, changed };
}

/** Whether two configs say the same in every respect, warnings included. */
export function sameConfig(a: Config, b: Config): boolean {
  const { added, removed, redialed } = diff(a, b);
  return written(a) === written(b) && added.length + removed.length + redialed.length === 0;
}

/** Secrets are not in it: servers are compared beside it. */
function written(config: Config): string {
  return JSON.stringify(config, (_key, value: unknown) =>
    value instanceof Map || value instanceof Set ? [...value] : value,
  );
}
