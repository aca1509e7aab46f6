/** Creates the context for changes: time, ids, and the checks for schemas and layers. */
import { randomBytes } from "node:crypto";
import { loadSchemaCheck } from "../../gateway/schema-check.ts";
import type { Vault } from "../../gateway/secrets.ts";
import type { ChangeContext } from "../../gateway/settle.ts";
import { uuidV7 } from "../../gateway/uuid.ts";
import type { LayerRegistry } from "../../middleware/registry.ts";
import type { Store } from "../../store/store.ts";

export async function contextOf(
  vault: Vault,
  layers: LayerRegistry,
  toolsOf: (server: string) => readonly { readonly name: string }[] | undefined,
): Promise<(revision: number) => ChangeContext> {
  const schemas = await loadSchemaCheck();
  return (revision) => ({
    at: new Date().toISOString(),
    revision,
    newId,
    schemas,
    vault,
    layers: (entry) => layers.check(entry),
    orderOfLayers: layers,
    listed: (server) => toolsOf(server)?.map(({ name }) => name),
  });
}

export function newId(): string {
  return uuidV7(Date.now(), randomBytes(10));
}

export function vaultOf({ sealer }: Pick<Store, "sealer">): Vault {
  return {
    seal: (text) => ({ sealed: sealer.seal(text) }),
    open: ({ sealed }) => sealer.open(sealed),
  };
}
