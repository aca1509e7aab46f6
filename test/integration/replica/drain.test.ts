/** A rolling restart of all replicas loses no session and fails no call. */
import { expect, test } from "vitest";
import { RawSession, type Route, replicas, routedClient, type Team } from "../../support/replica-team.ts";
import { onPostgres, request2026 } from "../../support/replicas.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { until } from "../../support/until.ts";

type Two = [TeamProcess, TeamProcess];

async function known(team: Team): Promise<void> {
  for (const at of team.replicas) await new RawSession(team.key).open(at);
}

onPostgres("replicas that stop", () => {
  test("sessions go on at the others, with what was set in them", async () => {
    const team = await replicas(2);
    const [one, two] = team.replicas as Two;
    await known(team);
    const session = await new RawSession(team.key).open(one);
    const stream = await session.listen(one);
    await until(() => stream.last !== "");
    expect(await one.kill("SIGTERM")).toBe(0);
    await until(() => stream.ended);
    const again = await session.listen(two, stream.last);
    expect(again.status).toBe(200);
    expect(await session.call(two, "fix__echo", { message: "goes on" })).toContain("goes on");
    expect(await team.database.sql("SELECT ended FROM metamcp_sessions WHERE ended = 1")).toEqual([]);
  });

  test("a call under way ends where it is, and the next one goes on at another", async () => {
    const team = await replicas(2);
    const [one, two] = team.replicas as Two;
    await known(team);
    const session = await new RawSession(team.key).open(one);
    const running = await session.stream(one, "tools/call", {
      name: "fix__sleep",
      arguments: { ms: 3_000 },
    });
    await until(() => team.journal.events("message").some(({ tool }) => tool === "sleep"));
    const stopped = one.kill("SIGTERM");
    await until(async () =>
      (await two.api("GET", "/replicas")).body.items.some((r: { state: string }) => r.state === "draining"),
    );
    // At the replica that stops, and at the other one: both wait for the end of the running call.
    const next = await Promise.all([
      session.call(one, "fix__echo", { message: "here" }),
      session.call(two, "fix__echo", { message: "there" }),
    ]);
    expect(next).toEqual([expect.stringContaining("here"), expect.stringContaining("there")]);
    expect((await running.next()).result.content[0].text).toBeDefined();
    const opened = new RawSession(team.key);
    await opened.open(two);
    expect(await stopped).toBe(0);
    expect(await session.call(two, "fix__echo", { message: "after" })).toContain("after");
  });

  test("a call that has asked its client goes on where it is, whichever replica gets the answer", async () => {
    const team = await replicas(2);
    const [one, two] = team.replicas as Two;
    await known(team);
    const ask = (at: TeamProcess, more = {}) =>
      request2026(at, "team", team.key, "tools/call", { name: "fix__ask", arguments: {}, ...more });
    const { requestState, inputRequests } = (await ask(one)).result;
    const stopped = one.kill("SIGTERM");
    await until(async () =>
      (await two.api("GET", "/replicas")).body.items.some((r: { state: string }) => r.state === "draining"),
    );
    const accepted = { action: "accept", content: { name: "Ada" } };
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((name) => [name, accepted]));
    const { result, error } = await ask(two, { requestState, inputResponses });
    expect(error).toBeUndefined();
    expect(result.content[0].text).toBe("answered");
    expect(await stopped).toBe(0);
  });

  test("/readyz is 503 at once, and requests are served until the stop", async () => {
    const team = await replicas(1);
    const [two] = team.replicas as [TeamProcess];
    const one = await team.start(["--drain", "1h"]);
    await known(team);
    const session = await new RawSession(team.key).open(one);
    const stopped = one.kill("SIGTERM");
    await until(async () => (await fetch(`${one.url}/readyz`)).status === 503);
    expect(await session.call(one, "fix__echo", { message: "still" })).toContain("still");
    expect(await session.call(two, "fix__echo", { message: "from there" })).toContain("from there");
    // A second signal ends the pause.
    void one.kill("SIGTERM");
    expect(await stopped).toBe(0);
  });

  test("all replicas are restarted one after the other under load: nothing fails", {
    timeout: 180_000,
  }, async () => {
    const team = await replicas(3);
    await known(team);
    let serving = [...team.replicas];
    let turn = 0;
    // As a load balancer with health checks: without stickiness, and only to those that are ready.
    const route: Route = {
      get at() {
        turn += 1;
        return serving[turn % serving.length] as TeamProcess;
      },
    };
    const clients = await Promise.all([
      ...Array.from({ length: 4 }, () => routedClient("SDK v1", route, team.key)),
      ...Array.from({ length: 4 }, () => routedClient("SDK v2", route, team.key)),
    ]);
    const failed: string[] = [];
    const done: string[] = [];
    let isDone = false;
    const load = clients.map(async (client, n) => {
      for (let k = 0; !isDone; k++) {
        const key = `${n}-${k}`;
        const text = await client.call("fix__count", { key }).catch(String);
        if (text === `${key} 1`) done.push(key);
        else failed.push(`${key}: ${text}`);
      }
    });
    for (const old of team.replicas) {
      serving = serving.filter((one) => one !== old);
      expect(await old.kill("SIGTERM")).toBe(0);
      const fresh = await team.start();
      await new RawSession(team.key).open(fresh);
      serving = [...serving, fresh];
    }
    const before = done.length;
    await until(() => done.length > before + 50);
    isDone = true;
    await Promise.all(load);
    expect(failed).toEqual([]);
    const counted = team.journal.events("count").map(({ key }) => key);
    expect(counted.sort()).toEqual(done.sort());
  });
});
