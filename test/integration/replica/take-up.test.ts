/** Who owns a session: the statement that decides it, without gateways around it. */
import { expect, test } from "vitest";
import type { Replicas } from "../../../src/store/replicas.ts";
import { onPostgres } from "../../support/replicas.ts";
import { postgresDatabase } from "../../support/test-databases.ts";

const about = { address: "a:1", publicUrl: undefined, version: "1" };

async function table(...listed: readonly string[]): Promise<Replicas> {
  const store = await (await postgresDatabase()).open();
  const replicas = store.replicas as Replicas;
  for (const id of listed) await replicas.join({ id, ...about });
  return replicas;
}

onPostgres("a session", () => {
  test("of a replica that serves is taken by nobody, of one that drains or is gone by one of many", async () => {
    const replicas = await table("owner", "one", "two");
    expect(await replicas.takeUp("s", "owner", "one")).toBeUndefined();
    await replicas.drain("owner");
    const takers = ["one", "two", "one", "two"];
    const taken = await Promise.all(takers.map((by) => replicas.takeUp("s", "owner", by)));
    const owners = new Set(taken.map((row) => row?.owner));
    expect(owners.size).toBe(1);
    const [heir = ""] = owners;
    expect(["one", "two"]).toContain(heir);
    // The heir serves, so that a late request that still names the first owner finds the heir.
    await replicas.leave("owner");
    const late = heir === "one" ? "two" : "one";
    expect((await replicas.takeUp("s", "owner", late))?.owner).toBe(heir);
  });

  test("that has ended stays ended, whoever asks, and keeps what only its owner stored", async () => {
    const replicas = await table("one", "two");
    await replicas.keep("s", "gone", { level: "debug" });
    await replicas.keep("s", "two", { level: "error" });
    expect(await replicas.takeUp("s", "gone", "one")).toEqual({
      owner: "one",
      ended: false,
      kept: { level: "debug" },
    });
    await replicas.end(["s"], "gone");
    expect((await replicas.session("s"))?.ended).toBe(false);
    await replicas.end(["s"], "one");
    await replicas.leave("one");
    expect(await replicas.takeUp("s", "one", "two")).toMatchObject({ owner: "one", ended: true });
    expect(await replicas.lost(["s", "other"], "one")).toEqual(["s"]);
  });
});
