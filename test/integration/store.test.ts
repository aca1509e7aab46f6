/** The contract of the store, run on both databases. */
import { test } from "vitest";
import { storeContract } from "../../src/store/store.contract.ts";
import { filePlace, noPostgres, postgresPlace } from "../support/store-places.ts";

storeContract("an embedded store", async () => filePlace());

if (noPostgres === undefined) storeContract("a Postgres store", () => postgresPlace());
else test.skip(`left out, because no Postgres answers: ${noPostgres}`, () => {});
