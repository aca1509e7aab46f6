/** The contract of the store, run on both databases. */
import { test } from "vitest";
import { storeContract } from "../../../src/store/store.contract.ts";
import { noPostgres, postgresDatabase, sqliteDatabase } from "../../support/test-databases.ts";

storeContract("an embedded store", async () => sqliteDatabase());

if (noPostgres === undefined) storeContract("a Postgres store", () => postgresDatabase());
else test.skip(`left out, because no Postgres answers: ${noPostgres}`, () => {});
