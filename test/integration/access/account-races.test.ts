/**
 * Two gateways on one store change accounts at the same time: no change is lost, and a code is accepted only
 * once.
 */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Accounts } from "../../../src/access/accounts.ts";
import { ConsoleSessions } from "../../../src/access/console-session.ts";
import { Invitations } from "../../../src/access/invitations.ts";
import { Setup } from "../../../src/access/setup.ts";
import type { Store } from "../../../src/store/store.ts";
import { noPostgres, postgresDatabase, sqliteDatabase } from "../../support/test-databases.ts";

const PASSWORD = "correct horse battery";
const ADMIN = { role: "admin", password: PASSWORD } as const;

/**
 * The state of one gateway in memory. It gets no notifications of the other gateway, which is the worst case.
 */
async function gateway(store: Store) {
  const accounts = new Accounts(store, { newId: randomUUID, adminToken: false });
  const sessions = new ConsoleSessions(store, accounts, { https: false });
  const gateway = {
    accounts,
    sessions,
    invitations: new Invitations(store, accounts),
    setup: new Setup(store, accounts),
    load: async () => {
      await Promise.all([accounts.load(), sessions.load()]);
    },
  };
  await gateway.load();
  return gateway;
}

async function twoOnFile() {
  const store = await sqliteDatabase().open();
  return [await gateway(store), await gateway(store)] as const;
}

async function twoOnPostgres() {
  const database = await postgresDatabase();
  return [await gateway(await database.open()), await gateway(await database.open())] as const;
}

const outcomesOf = async (work: readonly Promise<unknown>[]): Promise<readonly unknown[]> =>
  (await Promise.allSettled(work)).map((one) => (one.status === "rejected" ? one.reason.code : "done"));

describe.each([
  ["a file", twoOnFile, undefined],
  [`Postgres${noPostgres ? ` (left out: ${noPostgres})` : ""}`, twoOnPostgres, noPostgres],
])("two gateways on %s", (_, twins, obstacle) => {
  test.skipIf(obstacle)("keep one administrator when both remove one at the same time", async () => {
    const removals = [
      (one: Accounts, uuid: string) => one.change(uuid, { role: "member" }),
      (one: Accounts, uuid: string) => one.change(uuid, { disabled: true }),
      (one: Accounts, uuid: string) => one.remove(uuid),
    ];
    for (const way of removals) {
      const [here, there] = await twins();
      const ada = await here.accounts.create({ email: "ada@example.org", ...ADMIN });
      const bob = await here.accounts.create({ email: "bob@example.org", ...ADMIN });
      await there.load();
      const ended = await outcomesOf([way(here.accounts, ada.uuid), way(there.accounts, bob.uuid)]);
      expect([...ended].sort()).toEqual(["done", "last_admin"]);
      await here.load();
      expect(here.accounts.hasAdmin).toBe(true);
    }
  });

  test.skipIf(obstacle)(
    "keep an account disabled when the other gateway updates it from outdated data",
    async () => {
      const [here, there] = await twins();
      const identity = { issuer: "https://issuer.test", subject: "1" };
      const carol = await here.accounts.ofIdentity(identity);
      await there.load();
      await here.accounts.change(carol.uuid, { disabled: true });
      expect(there.accounts.byId(carol.uuid)?.disabled).toBe(false);
      expect(await there.accounts.ofIdentity({ ...identity, groups: ["ops"] })).toMatchObject({
        disabled: true,
        groups: ["ops"],
      });
      await here.load();
      expect(here.accounts.byId(carol.uuid)).toMatchObject({ disabled: true, groups: ["ops"] });
      const both = [{ groups: ["dev"] }, { role: "viewer" }] as const;
      await Promise.all([here, there].map(({ accounts }, at) => accounts.change(carol.uuid, both[at] ?? {})));
      await here.load();
      expect(here.accounts.byId(carol.uuid)).toMatchObject({
        disabled: true,
        groups: ["dev"],
        role: "viewer",
      });
    },
  );

  test.skipIf(obstacle)(
    "accept a setup code and an invitation once, however many use it at the same time",
    async () => {
      const [here, there] = await twins();
      const code = (await here.setup.begin()) ?? "";
      const first = [here, there, here, there].map(({ setup }, at) =>
        setup.finish(code, { email: `first${at}@example.org`, password: PASSWORD }),
      );
      expect((await outcomesOf(first)).filter((one) => one === "done")).toHaveLength(1);
      await expect(
        there.setup.finish(code, { email: "x@example.org", password: PASSWORD }),
      ).rejects.toThrow();
      const bob = await here.accounts.create({ email: "bob@example.org", role: "member" });
      await there.load();
      const { code: invited } = await here.invitations.create(bob);
      const accepted = await outcomesOf(
        [here, there, here, there].map(({ invitations }, at) =>
          invitations.accept(invited, `${PASSWORD}${at}`),
        ),
      );
      expect([...accepted].sort()).toEqual(["code_unknown", "code_unknown", "code_unknown", "done"]);
      await here.load();
      const { length } = await matchingPasswords(here.accounts, "bob@example.org");
      expect(length).toBe(1);
      await expect(there.invitations.accept(invited, PASSWORD)).rejects.toMatchObject({
        code: "code_unknown",
      });
    },
  );

  test.skipIf(obstacle)("reject a login that was checked before the password changed", async () => {
    const [here, there] = await twins();
    const ada = await here.accounts.create({ email: "ada@example.org", ...ADMIN });
    await there.load();
    const checked = await there.accounts.withPassword("ada@example.org", PASSWORD, "192.0.2.1");
    await here.accounts.change(ada.uuid, { password: `${PASSWORD} anew` });
    await here.sessions.endOf(ada.uuid);
    const late = (await there.sessions.begin(checked ?? ada, {})).split(";", 1)[0] ?? "";
    await Promise.all([here.load(), there.load()]);
    for (const { sessions } of [here, there]) expect(sessions.of({ cookie: late })).toBeUndefined();
  });
});

async function matchingPasswords(accounts: Accounts, email: string): Promise<readonly number[]> {
  const found = await Promise.all(
    [0, 1, 2, 3].map((at) => accounts.withPassword(email, `${PASSWORD}${at}`, "192.0.2.1")),
  );
  return found.flatMap((account, at) => (account ? [at] : []));
}
