/** A server with placement "one" has one process in all replicas, and all their clients reach it. */
import { expect, test } from "vitest";
import { placedTeam } from "../../support/placed-team.ts";
import { RawSession, replicas } from "../../support/replica-team.ts";
import { inStep, onPostgres } from "../../support/replicas.ts";
import { shared } from "../../support/shared.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { until } from "../../support/until.ts";

type Three = [TeamProcess, TeamProcess, TeamProcess];

onPostgres("a server that may run only once", () => {
  const team = shared(() => placedTeam(3));

  /** A session at each replica. The process runs at the first one. */
  async function sessions(capabilities: object = {}): Promise<RawSession[]> {
    const opened = [];
    for (const at of team().replicas) opened.push(await new RawSession(team().key).open(at, capabilities));
    await opened[0]?.call(team().replicas[0] as TeamProcess, "once__slow", { ms: 0 });
    return opened;
  }

  test("calls at three replicas reach one process", async () => {
    const { replicas, journal } = team();
    const clients = (await sessions()).map((session, n) => ({ session, at: replicas[n] as TeamProcess }));
    const counted: string[] = [];
    for (const { at, session } of [...clients, ...clients])
      counted.push(await session.call(at, "once__next"));

    expect(counted).toEqual(["1", "2", "3", "4", "5", "6"]);
    expect(journal("start")).toHaveLength(1);
  });

  test("each replica says which one runs it", async () => {
    const { replicas, server } = team();
    await sessions();
    const [one] = replicas as Three;
    const { body } = await one.api("GET", "/replicas");
    const first = body.items.find(({ self }: { self: boolean }) => self).id;
    for (const at of replicas)
      await until(async () => (await at.api("GET", `/mcp-servers/${server}`)).body.status.replica === first, {
        what: "the replica in the status",
      });
  });

  test("what it sends during a call reaches the client of another replica", async () => {
    const [, two, three] = team().replicas as Three;
    const [, session, other] = (await sessions()) as [RawSession, RawSession, RawSession];
    const stream = await session.listen(two);
    const foreign = await other.listen(three);
    await session.request(two, "logging/setLevel", { level: "info" });
    const call = await session.stream(two, "tools/call", {
      name: "once__say",
      arguments: {},
      _meta: { progressToken: "mine" },
    });
    expect((await call.next("notifications/progress")).params.progressToken).toBe("mine");
    expect((await call.next("notifications/message")).params.data).toBe("a log message");
    expect((await call.next()).result.content[0].text).toBe("said");
    // The list is new for all clients, the log message is only for the one whose call caused it.
    await stream.next("notifications/tools/list_changed");
    await foreign.next("notifications/tools/list_changed");
    expect(foreign.messages.some(({ method }) => method === "notifications/message")).toBe(false);
  });

  test("its question is answered by the client of another replica", async () => {
    const { replicas, journal } = team();
    const [, two] = replicas as Three;
    const [, session] = (await sessions({ elicitation: {} })) as [RawSession, RawSession];
    const call = await session.stream(two, "tools/call", { name: "once__ask", arguments: {} });
    const question = await call.next("elicitation/create");
    await session.post(two, { id: question.id, result: { action: "accept", content: { word: "yes" } } });
    expect((await call.next()).result.content[0].text).toContain('"word":"yes"');
    // Clients with other capabilities have another process, at the same replica.
    expect(new Set(journal("start").map(({ pid }) => pid)).size).toBe(2);
  });

  test("a call is cancelled, and a large answer arrives, through another replica", async () => {
    const { replicas, journal } = team();
    const [, two] = replicas as Three;
    const [, session] = (await sessions()) as [RawSession, RawSession];
    const call = await session.stream(two, "tools/call", { name: "once__slow", arguments: { ms: 60_000 } });
    await until(() => journal("call").filter(({ tool }) => tool === "slow").length >= 2);
    const before = journal("cancelled").length;
    await session.post(two, {
      method: "notifications/cancelled",
      params: { requestId: session.lastRequest },
    });
    await until(() => journal("cancelled").length > before);
    call.close();
    expect((await session.call(two, "once__big", { bytes: 5_000_000 })).length).toBe(5_000_000);
  });

  test("a change starts it once, and a restart reaches it from any replica", async () => {
    const { replicas, journal, server } = team();
    const [one, two, three] = replicas as Three;
    const [session] = (await sessions()) as [RawSession];
    const count = (): number => journal("start").length;
    const before = count();
    await two.api("PATCH", `/mcp-servers/${server}`, { env: { CHANGED: "1" } });
    await until(() => count() > before);
    await session.call(one, "once__next");
    const changed = count();
    await three.api("POST", `/mcp-servers/${server}/connect`);
    await until(() => count() > changed);
    expect(await session.call(one, "once__next")).toBe("1");
    for (const { others } of journal("start")) expect(others?.length ?? 0).toBeLessThanOrEqual(1);
  });
});

onPostgres("a server with a process for each session", () => {
  test("runs where the session is, whatever its placement", async () => {
    const { replicas, key, journal } = await placedTeam(2, { entry: { isolation: "session" } });
    for (const at of replicas) {
      const session = await new RawSession(key).open(at);
      expect(await session.call(at, "once__next")).toBe("1");
      expect(await session.call(at, "once__next")).toBe("2");
    }
    expect(journal("start")).toHaveLength(2);
  });
});

onPostgres("resources of a server that may run only once", () => {
  test("an update reaches the client of another replica that subscribed, and of one that took its session up", async () => {
    const team = await replicas(3, undefined, { server: ["--resources", "2"] });
    const [one, two, three] = team.replicas as Three;
    await one.api("PATCH", "/mcp-servers/fix", { placement: "one" });
    await inStep(team.replicas, team.key, "team");
    const [holder, session] = [await new RawSession(team.key).open(one), new RawSession(team.key)];
    await holder.call(one, "fix__echo", { message: "starts it here" });
    await session.open(two);
    const uri = "fixture://item/0";
    const subscribed = await session.request(two, "resources/subscribe", { uri });
    expect(await subscribed.text()).toContain('"result"');
    const update = (): Promise<string> =>
      holder.call(one, "fix__notify", { method: "notifications/resources/updated", params: { uri } });
    const stream = await session.listen(two);
    await update();
    expect((await stream.next("notifications/resources/updated")).params.uri).toBe(uri);

    await two.kill("SIGKILL");
    const again = await session.listen(three);
    await session.call(three, "fix__echo", { message: "taken up" });
    await update();
    expect((await again.next("notifications/resources/updated")).params.uri).toBe(uri);
  });
});
