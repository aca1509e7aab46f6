/** The names of tools: from the id of the operation, else from method and path. Pure. */
import { createHash } from "node:crypto";

/** Model APIs accept no longer names. */
const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

export interface Named {
  readonly id: string | undefined;
  readonly method: string;
  readonly path: string;
}

/**
 * One name per operation, all different. A name depends on its own operation, and only if several would be
 * called alike also on its method and path: so it stays the same when others come and go.
 */
export function toolNames(operations: readonly Named[]): readonly string[] {
  const preferred = operations.map(preferredName);
  const count = new Map<string, number>();
  for (const name of preferred) count.set(name.toLowerCase(), (count.get(name.toLowerCase()) ?? 0) + 1);
  return operations.map((operation, index) => {
    const name = preferred[index] as string;
    const isOnly = count.get(name.toLowerCase()) === 1;
    return isOnly && name.length <= MAX_LENGTH ? name : hashed(name, operation);
  });
}

function preferredName({ id, method, path }: Named): string {
  const fromId = id === undefined ? "" : plain(id);
  return fromId || plain(`${method.toLowerCase()}${path.replaceAll(/\{([^}]*)\}/g, "by_$1")}`);
}

function plain(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]+/g, "_").replaceAll(/^_+|_+$/g, "");
}

function hashed(name: string, { id, method, path }: Named): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([id, method, path]))
    .digest("hex")
    .slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}
