/** The tables that only several processes on one store need. Only Postgres has them. */
import type { Database } from "./database.ts";
import type { Feed } from "./feed.ts";
import { LimitTable } from "./limits.ts";
import { PlacementTable } from "./placements.ts";
import { ReadTable } from "./reads.ts";
import { ReplicaTable } from "./replica-table.ts";
import type { Store } from "./store.ts";
import { TryTable } from "./tries.ts";

type Shared = "replicas" | "reads" | "placements" | "limits" | "tries";
export type SharedTables = { readonly [Table in Shared]: NonNullable<Store[Table]> };

export function openSharedTables(database: Database, feed: Feed): SharedTables {
  return {
    replicas: new ReplicaTable(database, feed),
    reads: new ReadTable(database),
    placements: new PlacementTable(database),
    limits: new LimitTable(database),
    tries: new TryTable(database),
  };
}
