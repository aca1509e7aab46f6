/**
 * Emits events for changes that are not part of a revision: tools of servers, the state of the store, and
 * other records.
 */
import { ACCOUNT } from "../../access/account.ts";
import { API_KEY } from "../../access/api-key.ts";
import type { Engine } from "../../engine/engine.ts";
import type { RecordsChanged } from "../../kernel/events.ts";
import type { Store } from "../../store/store.ts";
import { APPROVAL } from "../approvals/stored-approval.ts";
import { PROVISION_REQUEST } from "../provision/requests.ts";

/** By the kind of record. */
const RECORDS: Readonly<Record<string, RecordsChanged["of"]>> = {
  [ACCOUNT]: "users",
  [API_KEY]: "api-keys",
  [PROVISION_REQUEST]: "provision-requests",
  [APPROVAL]: "approvals",
};

/** Returns the function that stops it. */
export function emitChanges(
  { events, catalog }: Pick<Engine, "events" | "catalog">,
  store: Pick<Store, "onState" | "onChange">,
): () => void {
  let known = catalog.snapshot.listings;
  const ends = [
    catalog.onChange(() => {
      const before = known;
      known = catalog.snapshot.listings;
      const servers = new Set([...before.keys(), ...known.keys()]);
      for (const server of servers) {
        const tools = known.get(server)?.tools;
        if (tools === before.get(server)?.tools) continue;
        events.emit({ type: "tools", at: Date.now(), server, toolCount: tools?.length ?? 0 });
      }
    }),
    store.onState((state) => events.emit({ type: "store", at: Date.now(), ...state })),
    store.onChange((change) => {
      const of = change.of === "records" ? RECORDS[change.kind] : undefined;
      if (of) events.emit({ type: "changed", at: Date.now(), of });
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
