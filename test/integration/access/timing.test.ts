/**
 * The duration of a look-up must not reveal whether a key or an account exists. The cases are measured in
 * turns, by the processor time of this process, so that other work on the machine does not matter, and
 * compared as ratios of medians.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { Accounts } from "../../../src/access/accounts.ts";
import { createApiKey, revokeApiKey } from "../../../src/access/api-keys.ts";
import { KeyRing } from "../../../src/access/key-ring.ts";
import { sqliteDatabase } from "../../support/test-databases.ts";

type Kinds = Readonly<Record<string, () => unknown>>;

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[times.length >> 1] as number;

/** The median of each case, divided by the median of the first case. */
async function shares(kinds: Kinds, { rounds, calls }: { rounds: number; calls: number }) {
  const names = Object.keys(kinds);
  const times = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (let at = 0; at < names.length; at += 1) {
      // The order rotates, so that no case always comes first after a pause.
      const name = names[(at + round) % names.length] as string;
      const from = process.cpuUsage();
      for (let call = 0; call < calls; call += 1) await kinds[name]?.();
      const { user, system } = process.cpuUsage(from);
      times.get(name)?.push(user + system);
    }
  const [first = 1, ...rest] = names.map((name) => median(times.get(name) ?? []));
  return rest.map((one) => one / first);
}

/** A look-up that skips the hash of a key or password is more than ten times as fast. */
const ALLOWED_RATIO = [0.4, 2.5] as const;

test("unknown, wrong and revoked keys take equally long to reject", { timeout: 60_000 }, async () => {
  const store = await sqliteDatabase().open();
  const made = [];
  for (let count = 0; count < 1_000; count += 1)
    made.push(await createApiKey(store, { name: `key ${count}`, endpoints: "all" }));
  const [known, gone] = made.slice(0, 2) as unknown as [{ key: string }, { id: string; key: string }];
  await revokeApiKey(store, gone.id);
  const ring = new KeyRing(store);
  await ring.load();
  expect(ring.size).toBe(999);
  expect(ring.holderOf(known.key)).toBeDefined();
  const secret = () => randomBytes(32).toString("base64url");
  const texts = {
    unknown: `mmcp_${randomUUID().replaceAll("-", "")}_${secret()}`,
    "wrong secret of a known prefix": `${known.key.slice(0, 38)}${secret()}`,
    "all but the last character": `${known.key.slice(0, -1)}${known.key.endsWith("A") ? "B" : "A"}`,
    revoked: gone.key,
    "no key at all": "x".repeat(known.key.length),
  };
  for (const text of Object.values(texts)) {
    expect(text).toHaveLength(known.key.length);
    expect(ring.holderOf(text)).toBeUndefined();
  }
  const kinds = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, () => ring.holderOf(text)]),
  );
  for (const share of await shares(kinds, { rounds: 300, calls: 50 })) {
    expect(share).toBeGreaterThan(ALLOWED_RATIO[0]);
    expect(share).toBeLessThan(ALLOWED_RATIO[1]);
  }
});

test("a wrong password takes equally long to reject with and without such an account", async () => {
  const store = await sqliteDatabase().open();
  const accounts = new Accounts(store, { newId: randomUUID, adminToken: true });
  await accounts.create({ email: "ada@example.org", role: "member", password: "correct horse battery" });
  await accounts.create({ email: "invited@example.org", role: "member" });
  const off = await accounts.create({ email: "off@example.org", role: "member", password: "correct horse" });
  await accounts.change(off.uuid, { disabled: true });
  let tries = 0;
  const attempt = (name: string) => async () => {
    tries += 1;
    expect(await accounts.withPassword(`${name}@example.org`, "wrong", `192.0.2.${tries}`)).toBeUndefined();
  };
  const kinds = Object.fromEntries(["nobody", "ada", "invited", "off"].map((name) => [name, attempt(name)]));
  for (const share of await shares(kinds, { rounds: 9, calls: 1 })) {
    expect(share).toBeGreaterThan(ALLOWED_RATIO[0]);
    expect(share).toBeLessThan(ALLOWED_RATIO[1]);
  }
});
