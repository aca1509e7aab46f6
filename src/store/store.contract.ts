/** The contract of every store, for both databases. */

import { auditContract } from "./audit.contract.ts";
import { auditEndContract } from "./audit-end.contract.ts";
import { configContract } from "./config.contract.ts";
import { openingContract } from "./opening.contract.ts";
import type { StorePlace } from "./place.contract.ts";
import { recordsContract } from "./records.contract.ts";

/** `place` returns an empty location each time. */
export function storeContract(name: string, place: () => Promise<StorePlace>): void {
  for (const contract of [configContract, recordsContract, auditContract, auditEndContract, openingContract])
    contract(name, place);
}
