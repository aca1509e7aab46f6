/** The contract of every store, for both databases. */

import { auditContract } from "./audit.contract.ts";
import { auditEndContract } from "./audit-end.contract.ts";
import { configContract } from "./config.contract.ts";
import { openingContract } from "./opening.contract.ts";
import { recordsContract } from "./records.contract.ts";
import type { StoreDatabase } from "./store-database.contract.ts";
import { sumsContract } from "./sums.contract.ts";

/** `database` returns an empty database each time. */
export function storeContract(name: string, database: () => Promise<StoreDatabase>): void {
  const contracts = [
    configContract,
    recordsContract,
    auditContract,
    auditEndContract,
    sumsContract,
    openingContract,
  ];
  for (const contract of contracts) contract(name, database);
}
