/** Compares two configs server by server. Pure; the caller applies the difference. */
import { sameDial } from "./identity.ts";
import type { Config } from "./spec.ts";

/** Names of servers. A disabled or broken server counts as missing. */
export interface ConfigDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Servers that must be connected again. */
  readonly redialed: readonly string[];
  /** Servers with changes in other settings; connections stay. */
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

/** Whether two configs are equal, including warnings. */
export function sameConfig(a: Config, b: Config): boolean {
  const { added, removed, redialed } = diff(a, b);
  return written(a) === written(b) && added.length + removed.length + redialed.length === 0;
}

/** Does not contain secrets, so `diff` compares the servers too. */
function written(config: Config): string {
  return JSON.stringify(config, (_key, value: unknown) =>
    value instanceof Map || value instanceof Set ? [...value] : value,
  );
}
