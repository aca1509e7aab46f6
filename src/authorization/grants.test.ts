import { expect, test } from "vitest";
import type { RecordChange, Store, StoredRecord } from "../store/store.ts";
import { GRANT, type GrantHolder, type GrantScope, Grants } from "./grants.ts";

/** Records in memory. */
function memory(): Pick<Store, "records"> {
  const all = new Map<string, StoredRecord>();
  const keyOf = ({ kind, id }: { readonly kind: string; readonly id: string }): string => `${kind} ${id}`;
  const put = (record: Omit<StoredRecord, "version">): void => {
    const version = (all.get(keyOf(record))?.version ?? 0) + 1;
    all.set(keyOf(record), { ...record, version } as StoredRecord);
  };
  const records = {
    get: async (kind: string, id: string) => all.get(keyOf({ kind, id })),
    put: async (record: Omit<StoredRecord, "version">) => put(record),
    async write(changes: readonly RecordChange[]) {
      for (const change of changes) {
        if ("delete" in change) all.delete(keyOf(change.delete));
        else put(change.put as StoredRecord);
      }
    },
    list: async (kind: string) => [...all.values()].filter((record) => record.kind === kind),
  };
  return { records } as unknown as Pick<Store, "records">;
}

const SCOPE: GrantScope = { account: "ada", client: "c1", endpoint: "e1", redirectHost: "claude.ai" };
const OTHERS: readonly GrantScope[] = [
  { ...SCOPE, account: "bob" },
  { ...SCOPE, client: "c2" },
  { ...SCOPE, endpoint: "e2" },
  { ...SCOPE, redirectHost: "evil.test" },
];
const SAID = { clientName: "Claude", resource: "https://here.test/e1" };

function made() {
  const store = memory();
  const ended: GrantHolder[] = [];
  const idOf = (model: string, id: string): string => `${model} ${id}`;
  const grants = new Grants(store, { idOf, onRevoked: (holder) => ended.push(holder), now: () => 0 });
  return { store, ended, grants };
}

test("a consent counts for the account, client, endpoint and redirect host that it named, and no other", async () => {
  const { grants } = made();
  await grants.consent(SCOPE, SAID);
  expect(await grants.isConsented(SCOPE)).toBe(true);
  for (const other of OTHERS) expect(await grants.isConsented(other)).toBe(false);
});

test("only its own account revokes a consent, and with it all grants under it", async () => {
  const { store, ended, grants } = made();
  for (const [at, scope] of [SCOPE, ...OTHERS].entries()) {
    await grants.consent(scope, SAID);
    await store.records.put({ kind: GRANT, id: `g${at}`, value: {} });
    await grants.bind(`g${at}`, scope);
  }
  const id = (await grants.list("ada"))[0]?.id ?? "";
  expect(await grants.revoke("bob", id)).toBe(false);
  expect([await grants.isConsented(SCOPE), grants.isRevoked("g0")]).toEqual([true, false]);
  expect(await grants.revoke("ada", id)).toBe(true);
  expect(await grants.isConsented(SCOPE)).toBe(false);
  expect(["g0", "g1", "g2", "g3", "g4"].filter((grant) => grants.isRevoked(grant))).toEqual(["g0"]);
  expect(ended).toEqual([{ account: "ada", client: "c1" }]);
});

test("a grant that was not bound to what a consent named has no scope", async () => {
  const { store, grants } = made();
  const { redirectHost, endpoint, ...holder } = SCOPE;
  for (const value of [holder, { ...holder, endpoint }, { ...holder, redirectHost }]) {
    await store.records.put({ kind: GRANT, id: "g", value });
    expect(await grants.scopeOf("g")).toBeUndefined();
  }
  await grants.bind("g", SCOPE);
  expect(await grants.scopeOf("g")).toEqual(SCOPE);
});
