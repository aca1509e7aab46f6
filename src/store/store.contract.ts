/** The contract of every store, for both databases. */

import { auditContract } from "./audit.contract.ts";
import { auditEndContract } from "./audit-end.contract.ts";
import { configContract } from "./config.contract.ts";
import { openingContract } from "./opening.contract.ts";
import { recordsContract } from "./records.contract.ts";
import type { StoreDatabase } from "./store-database.contract.ts";

/** `database` returns an empty database each time. */
export function storeContract(name: string, database: () => Promise<StoreDatabase>): void {
  for (const contract of [configContract, recordsContract, auditContract, auditEndContract, openingContract])
    contract(name, database);
}
