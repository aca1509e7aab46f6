/**
 * A context for tests of changes: counted times and ids, a vault without encryption, and a check that accepts
 * every layer.
 */
import { loadSchemaCheck } from "./schema-check.ts";
import type { ChangeContext } from "./settle.ts";
import { uuidV7 } from "./uuid.ts";

const schemas = await loadSchemaCheck();

let made = 0;
let sealed = 0;

export function contextAt(revision: number, more: Partial<ChangeContext> = {}): ChangeContext {
  return {
    at: new Date(revision * 1_000).toISOString(),
    revision,
    newId: () => {
      made += 1;
      const random = new Uint8Array(10);
      new DataView(random.buffer).setUint32(6, made);
      return uuidV7(made, random);
    },
    schemas,
    vault: {
      // Different each time, as with real encryption.
      seal: (text) => ({ sealed: `${sealed++}|${text}` }),
      open: (secret) => secret.sealed.slice(secret.sealed.indexOf("|") + 1),
    },
    layers: () => [],
    ...more,
  };
}
