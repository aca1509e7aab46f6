/**
 * Servers that list per account: the tools of one account's credential are visible and searchable only for
 * that account.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { temp } from "../../test/support/temp.ts";
import type { Origin } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { listKeyOf } from "../kernel/list-key.ts";
import { silentLog } from "../kernel/log.ts";
import { ANONYMOUS, type Principal } from "../kernel/principal.ts";
import { toRaw } from "../kernel/raw.ts";
import { ToolCache } from "./cache.ts";
import { Catalog } from "./catalog.ts";
import { createSearch } from "./search/search.ts";

const account = (id: string): Principal => ({ id, kind: "account", roles: ["member"], groups: [] });
const asker = (
  principal: Principal,
  capabilities: object = {},
): Pick<Origin, "principal" | "capabilities"> => ({
  principal,
  capabilities: toRaw(capabilities),
});

function setUp() {
  const { home } = temp();
  const search = createSearch();
  const cache = new ToolCache({ home, log: silentLog });
  const catalog = new Catalog({ cache, search, clock: new ManualClock(), log: silentLog });
  const credentials = new Map<string, string>();
  const personal = {
    identity: "mail",
    permits: () => true,
    credentialOf: (id: string | undefined) => (id === undefined ? undefined : credentials.get(id)),
  };
  const configure = (more: object = {}): void =>
    catalog.configure(
      new Map([
        ["mail", { ...personal, ...more }],
        ["shared", { identity: "shared", permits: () => true }],
      ]),
    );
  configure();
  const list = (credential: string, tools: Readonly<Record<string, string>>, capabilities: object = {}) =>
    catalog.refresh(
      { server: "mail", key: listKeyOf(asker(ANONYMOUS, capabilities), credential) },
      async () =>
        toRaw({ tools: Object.entries(tools).map(([name, description]) => ({ name, description })) }),
      {},
    );
  const seenBy = (principal: Principal, capabilities: object = {}): string[] | undefined =>
    catalog
      .view(asker(principal, capabilities))
      .snapshot.listings.get("mail")
      ?.tools.map(({ name, description }) => `${name}: ${description}`);
  return { home, cache, catalog, credentials, configure, list, seenBy };
}

const [ada, bob] = [account("ada"), account("bob")];

test("only the account itself sees the list of its credential, with any client capabilities", async () => {
  const { catalog, credentials, list, seenBy } = setUp();
  credentials.set("ada", "ada.1").set("bob", "bob.1");
  await list("ada.1", { read: "Reads the mail of Ada" });
  expect(seenBy(ada)).toEqual(["read: Reads the mail of Ada"]);
  expect(seenBy(ada, { sampling: {} })).toEqual(["read: Reads the mail of Ada"]);
  expect(catalog.view(asker(ada)).isLive("mail")).toBe(true);
  for (const other of [bob, ANONYMOUS, account("eve")]) {
    expect(seenBy(other)).toBeUndefined();
    expect(catalog.view(asker(other)).knows("mail", "tools")).toBe(false);
  }
  expect(catalog.snapshot.listings.has("mail")).toBe(false);
  expect(catalog.snapshot.tool("mail", "read")).toBeUndefined();
});

test("a new credential of an account does not see the list of the old one", async () => {
  const { catalog, credentials, list, seenBy } = setUp();
  credentials.set("ada", "ada.1");
  await list("ada.1", { read: "1" });
  credentials.delete("ada");
  catalog.credentialsChanged();
  expect(seenBy(ada)).toBeUndefined();
  credentials.set("ada", "ada.2");
  catalog.credentialsChanged();
  expect(seenBy(ada)).toBeUndefined();
  // A late list of the old connection is ignored.
  await list("ada.1", { late: "1" });
  expect(seenBy(ada)).toBeUndefined();
  await list("ada.2", { write: "2" });
  expect(seenBy(ada)).toEqual(["write: 2"]);
});

test("a search with words from one account's list finds nothing for another account", async () => {
  const { catalog, credentials, list } = setUp();
  credentials.set("ada", "ada.1").set("bob", "bob.1");
  await list("ada.1", { query: "Queries the zebra project", zebra: "Feeds zebras" });
  await list("bob.1", { query: "Queries the walrus project" });
  const find = async (principal: Principal, query: string) =>
    (await catalog.view(asker(principal)).search.search(query, { limit: 10 })).map(
      ({ server, name, score }) => ({ server, name, score }),
    );
  expect((await find(ada, "zebra")).map(({ name }) => name)).toContain("zebra");
  expect((await find(ada, "zebra")).every(({ server }) => server === "mail")).toBe(true);
  const [byOwn] = await find(bob, "walrus");
  expect(byOwn).toMatchObject({ server: "mail", name: "query" });
  expect(await find(bob, "zebra")).toEqual(await find(bob, "quagga"));
  expect(await find(ANONYMOUS, "zebra walrus")).toEqual([]);
});

test("accounts with equal lists share the tool objects, and per-account lists are not written to disk", async () => {
  const { home, cache, catalog, credentials, list } = setUp();
  const ids = Array.from({ length: 20 }, (_, index) => `a${index}`);
  for (const id of ids) {
    credentials.set(id, `${id}.1`);
    await list(`${id}.1`, { read: "Reads mail" });
  }
  const tools = ids.map((id) => catalog.view(asker(account(id))).snapshot.tool("mail", "read"));
  expect(new Set(tools).size).toBe(1);
  await cache.flush();
  const { catalog: later } = {
    catalog: new Catalog({
      cache: new ToolCache({ home, log: silentLog }),
      search: createSearch(),
      clock: new ManualClock(),
      log: silentLog,
    }),
  };
  later.configure(new Map([["mail", { identity: "mail", permits: () => true }]]));
  await later.loadCached();
  expect(later.snapshot.listings.has("mail")).toBe(false);
});

test("after any sequence of lists, logins and logouts an account sees the last list of its credential or nothing", async () => {
  const who = fc.constantFrom("ada", "bob", "eve");
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("list" as const),
      who,
      stamp: fc.integer({ min: 1, max: 3 }),
      tools: fc.uniqueArray(fc.constantFrom("a", "b", "c")),
    }),
    fc.record({ kind: fc.constant("log in" as const), who, stamp: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant("log out" as const), who }),
    fc.record({ kind: fc.constant("server" as const), identity: fc.constantFrom("mail", "other") }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const { catalog, credentials, configure, list, seenBy } = setUp();
      let identity = "mail";
      const lists = new Map<string, string[]>();
      for (const action of steps) {
        if (action.kind === "list") {
          const credential = `${action.who}.${action.stamp}`;
          await list(credential, Object.fromEntries(action.tools.map((tool) => [tool, credential])));
          lists.set(
            credential,
            action.tools.map((tool) => `${tool}: ${credential}`),
          );
        } else if (action.kind === "log in") credentials.set(action.who, `${action.who}.${action.stamp}`);
        else if (action.kind === "log out") credentials.delete(action.who);
        else {
          if (action.identity !== identity) lists.clear();
          identity = action.identity;
          configure({ identity });
        }
        catalog.credentialsChanged();
        for (const id of ["ada", "bob", "eve"]) {
          const credential = credentials.get(id);
          const expected = credential === undefined ? undefined : lists.get(credential);
          expect(seenBy(account(id))).toEqual(expected);
        }
        expect(seenBy(ANONYMOUS)).toBeUndefined();
        expect(catalog.snapshot.listings.has("mail")).toBe(false);
      }
    }),
    { numRuns: 60 },
  );
});
