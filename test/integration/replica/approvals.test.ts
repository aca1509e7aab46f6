/** Calls that wait for an approval at one replica and are decided at another, also when the first dies. */
import { expect, test } from "vitest";
import { RawSession, replicas, type Team } from "../../support/replica-team.ts";
import { onPostgres } from "../../support/replicas.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { until } from "../../support/until.ts";

const APPROVE = { use: "policy", default: "allow", rules: [{ effect: "approve", tools: ["fix:count"] }] };

async function team(): Promise<Team & { readonly one: TeamProcess; readonly two: TeamProcess }> {
  const made = await replicas(1);
  const [one] = made.replicas as [TeamProcess];
  const { body } = await one.api("GET", "/namespaces");
  await one.api("PATCH", `/namespaces/${body.items[0].uuid}`, { middleware: [APPROVE] });
  return Object.assign(made, { one, two: await made.start() });
}

type Listed = { readonly uuid: string; readonly state: string };

const approvals = async ({ api }: TeamProcess): Promise<readonly Listed[]> =>
  (await api("GET", "/approvals")).body.items;

/** Makes a call that waits at a replica, and waits until the other one lists it. */
async function waitingCall(at: TeamProcess, key: string, listedAt: TeamProcess) {
  const client = await new RawSession(key).open(at);
  const answer = client.call(at, "fix__count", { key: "a" }).catch((error: Error) => error.message);
  const { uuid } = await until(async () =>
    (await approvals(listedAt)).find(({ state }) => state === "waiting"),
  );
  return { uuid, answer };
}

onPostgres("approvals over replicas", () => {
  test("a yes at another replica makes the call once, and counts only if the call is made", async () => {
    const { one, two, key, journal } = await team();
    const made = (): number => journal.events("count").length;
    const first = await waitingCall(one, key, two);
    expect((await two.api("POST", `/approvals/${first.uuid}/approve`, {})).status).toBe(200);
    expect(await first.answer).not.toContain("error");
    expect(made()).toBe(1);

    const decided = await waitingCall(one, key, two);
    await one.kill("SIGKILL");
    const late = await two.api("POST", `/approvals/${decided.uuid}/approve`, {});
    expect(late.status, JSON.stringify(late.body)).toBe(409);
    expect((await approvals(two)).find(({ uuid }) => uuid === decided.uuid)?.state).toBe("withdrawn");
    await decided.answer;
    expect(made()).toBe(1);
  });

  test("a yes for a call of a stopped replica is 409, and that does not make the call when it goes on", async () => {
    const { one, two, key, journal } = await team();
    const { uuid, answer } = await waitingCall(one, key, two);
    process.kill(one.pid, "SIGSTOP");
    try {
      const late = await two.api("POST", `/approvals/${uuid}/approve`, {});
      expect(late.status, JSON.stringify(late.body)).toBe(409);
    } finally {
      process.kill(one.pid, "SIGCONT");
    }
    expect(await answer).toContain("Nothing was done");
    expect(journal.events("count")).toEqual([]);
    for (const at of [one, two])
      await until(async () => (await approvals(at)).find((all) => all.uuid === uuid)?.state === "withdrawn");
  });

  test("a call of a dead replica is withdrawn without anybody asking", async () => {
    const { one, two, key, database } = await team();
    const { uuid, answer } = await waitingCall(one, key, two);
    await one.kill("SIGKILL");
    const stored = async (): Promise<string> => {
      const rows = await database.sql("SELECT value FROM metamcp_records WHERE kind = 'approval'");
      return JSON.parse(String(rows[0]?.["value"])).state as string;
    };
    await until(async () => (await stored()) === "withdrawn");
    expect((await two.api("POST", `/approvals/${uuid}/approve`, {})).status).toBe(409);
    expect((await approvals(two))[0]).toMatchObject({ uuid, state: "withdrawn" });
    await answer;
  });
});
