/** Concurrent uses of one code or refresh token, at one gateway or at two on one store. */
import { errors } from "oidc-provider";
import { describe, expect, test } from "vitest";
import { type AdapterParts, createAdapter } from "../../../src/authorization/adapter.ts";
import { Grants } from "../../../src/authorization/grants.ts";
import { recordIds } from "../../../src/authorization/record-id.ts";
import type { Store } from "../../../src/store/store.ts";
import { noPostgres, postgresDatabase, sqliteDatabase } from "../../support/test-databases.ts";

function adapterOn(store: Store, model: string) {
  const idOf = recordIds(store.sealer);
  const grants = new Grants(store, { idOf, onRevoked: () => {} });
  const machines = { machineOf: () => undefined, isSecretOf: () => false };
  const parts: AdapterParts = {
    store,
    idOf,
    grants,
    machines,
    now: Date.now,
    endpointAt: (resource) => resource,
  };
  return createAdapter(parts)(model);
}

async function onFile(): Promise<readonly Store[]> {
  return [await sqliteDatabase().open()];
}

async function onPostgres(): Promise<readonly Store[]> {
  const database = await postgresDatabase();
  return [await database.open(), await database.open()];
}

describe.each([
  ["a file", onFile, undefined],
  [`Postgres${noPostgres ? ` (left out: ${noPostgres})` : ""}`, onPostgres, noPostgres],
])("with the store on %s", (_, open, obstacle) => {
  test.skipIf(obstacle).each(["AuthorizationCode", "RefreshToken"])(
    "one %s that is consumed several times at once is accepted once",
    async (model) => {
      const adapters = (await open()).map((store) => adapterOn(store, model));
      await adapters[0]?.upsert("a-token", { accountId: "ada", clientId: "client", grantId: "grant" }, 60);
      const all = await Promise.allSettled(
        Array.from({ length: 6 }, async (__, at) => await adapters[at % adapters.length]?.consume("a-token")),
      );
      expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const one of all)
        if (one.status === "rejected") expect(one.reason).toBeInstanceOf(errors.InvalidGrant);
      expect(await adapters.at(-1)?.find("a-token")).toMatchObject({ consumed: expect.any(Number) });
    },
  );

  test.skipIf(obstacle)(
    "the id of an assertion that arrives several times at once is accepted once",
    async () => {
      const adapters = (await open()).map((store) => adapterOn(store, "ReplayDetection"));
      const all = await Promise.allSettled(
        Array.from({ length: 6 }, async (__, at) =>
          adapters[at % adapters.length]?.upsert("jti", { iss: "m" }, 60),
        ),
      );
      expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const one of all)
        if (one.status === "rejected") expect(one.reason).toBeInstanceOf(errors.InvalidClientAuth);
    },
  );
});
