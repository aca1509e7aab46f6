/** Sessions that are used at another replica than their own, and what becomes of them when that dies. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { expect, test } from "vitest";
import { RawSession, replicas, type Team } from "../../support/replica-team.ts";
import { onPostgres } from "../../support/replicas.ts";
import { shared } from "../../support/shared.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { until } from "../../support/until.ts";

type Two = [TeamProcess, TeamProcess];

const call = (name: string, args: object = {}, meta: object = {}) => ({
  name: `fix__${name}`,
  arguments: args,
  _meta: meta,
});

async function openAt(team: Team, at: TeamProcess, capabilities: object = {}): Promise<RawSession> {
  for (const gateway of team.replicas) await new RawSession(team.key).open(gateway);
  return await new RawSession(team.key).open(at, capabilities);
}

onPostgres("sessions of one of two replicas", () => {
  const given = shared(() => replicas(2));

  test("progress, questions, cancelling and streams pass through the other one", async () => {
    const team = given();
    const [one, two] = team.replicas as Two;
    const session = await openAt(team, one, { elicitation: {} });

    const reporting = await session.stream(
      two,
      "tools/call",
      call("progress", { n: 3 }, { progressToken: 7 }),
    );
    expect((await reporting.next()).result.content[0].text).toBe("reported 3");
    expect(reporting.messages.filter(({ method }) => method === "notifications/progress")).toHaveLength(3);

    const asking = await session.stream(two, "tools/call", call("ask", { message: "who?" }));
    const { id } = await asking.next("elicitation/create");
    const answered = await session.post(two, { id, result: { action: "accept", content: { name: "ada" } } });
    expect(answered.status).toBe(202);
    expect((await asking.next()).result.content[0].text).toBe("answered");

    const hanging = await session.stream(two, "tools/call", call("hang"));
    const { id: hung } = await until(() =>
      team.journal.events("message").find(({ tool }) => tool === "hang"),
    );
    await session.post(two, {
      method: "notifications/cancelled",
      params: { requestId: session.lastRequest },
    });
    await until(() => team.journal.events("cancelled").some((event) => event.id === hung));
    await until(() => hanging.ended);

    const standalone = await session.listen(two);
    await session.call(one, "fix__change", { add: ["brand_new"] });
    await standalone.next("notifications/tools/list_changed");
    await session.request(two, "logging/setLevel", { level: "debug" });
    await session.call(one, "fix__log", { data: "hello" });
    expect((await session.fetch(two)).status).toBe(409);
  });

  test("a batch passes through, and its answers come back together", async () => {
    const team = given();
    const [one, two] = team.replicas as Two;
    await openAt(team, one);
    const session = new RawSession(team.key);
    const params = {
      protocolVersion: "2025-03-26",
      capabilities: {},
      clientInfo: { name: "b", version: "1" },
    };
    const opened = await session.request(one, "initialize", params);
    session.id = opened.headers.get("mcp-session-id") ?? "";
    await opened.text();
    const body = JSON.stringify([
      { jsonrpc: "2.0", id: "a", method: "ping" },
      { jsonrpc: "2.0", id: "b", method: "tools/call", params: call("echo", { message: "in a batch" }) },
    ]);
    const [, answers = ""] =
      /^data: (\[.*)$/m.exec(await (await session.fetch(two, { method: "POST", body })).text()) ?? [];
    expect(
      JSON.parse(answers)
        .map(({ id }: { id: string }) => id)
        .sort(),
    ).toEqual(["a", "b"]);
  });

  test("messages of the deprecated SSE transport reach the stream, those of strangers do not", async () => {
    const team = given();
    const [one, two] = team.replicas as Two;
    await openAt(team, one);
    let sentTo = "";
    const transport = new SSEClientTransport(new URL(`${one.url}/metamcp/team/sse`), {
      requestInit: { headers: { "x-api-key": team.key } },
      fetch: (url, init) => {
        if (init?.method !== "POST") return fetch(url, init);
        sentTo = String(url).replace(one.url, two.url);
        return fetch(sentTo, init);
      },
    });
    const client = new Client({ name: "old", version: "1" });
    await client.connect(transport as never);
    const { content } = await client.callTool({
      name: "fix__echo",
      arguments: { message: "through" },
    });
    expect(content).toEqual([{ type: "text", text: "through" }]);
    const { headers } = new RawSession(await one.key());
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    expect((await fetch(sentTo, { method: "POST", headers, body })).status).toBe(404);
    await client.close();
  });
});

onPostgres("sessions at another replica", () => {
  test("only its principal can use a session, at any replica, and only while the key is valid", async () => {
    const team = await replicas(2);
    const [one, two] = team.replicas as Two;
    const session = await openAt(team, one);
    const stranger = await new RawSession(await one.key()).open(two);
    stranger.id = session.id;
    expect((await stranger.request(two, "tools/list")).status).toBe(404);
    expect((await stranger.fetch(two, { method: "DELETE" })).status).toBe(404);
    const wrong = new RawSession("mcp_wrong");
    wrong.id = session.id;
    expect((await wrong.request(two, "tools/list")).status).toBe(401);
    for (const id of ["", "x", session.id.slice(1), `${session.id}x`, "A".repeat(130)]) {
      const forged = new RawSession(team.key);
      forged.id = id;
      expect((await forged.fetch(two)).status, id).toBe(id === "" ? 400 : 404);
    }
    const { body } = await one.api("GET", "/api-keys");
    for (const { uuid } of body.items) await one.api("DELETE", `/api-keys/${uuid}`);
    await until(async () => (await session.request(two, "tools/list")).status === 401);
    await one.kill("SIGKILL");
    expect((await session.request(two, "tools/list")).status).toBe(401);
  });

  test("a call of a dead replica ends with an error, whoever asks, and is not made again", async () => {
    const team = await replicas(3);
    const [one, two, three] = team.replicas as [TeamProcess, TeamProcess, TeamProcess];
    const session = await openAt(team, one);
    const standalone = await session.listen(one);
    const forwarded = await session.stream(two, "tools/call", call("count", { key: "forwarded", hangs: 9 }));
    const direct = await session.stream(one, "tools/call", call("count", { key: "direct", hangs: 9 }));
    const safe = await session.stream(one, "tools/call", call("count_safe", { key: "safe", hangs: 9 }));
    await until(() => ["forwarded", "direct", "safe"].every((key) => team.journal.executions(key) === 1));
    await until(() => [direct, safe, standalone].every(({ last }) => last !== ""));
    await one.kill("SIGKILL");

    const lost = { code: -32603, data: expect.objectContaining({ retryable: false }) };
    const { error } = await forwarded.next();
    expect(error).toMatchObject(lost);
    expect(error.message).toContain("The call may have run");
    const [resumed, alsoSafe, again] = await Promise.all([
      session.listen(three, direct.last),
      session.listen(two, safe.last),
      session.listen(three, standalone.last),
    ]);
    expect((await resumed.next()).error).toMatchObject(lost);
    expect((await alsoSafe.next()).error).toMatchObject({ data: { retryable: true } });
    expect(again.status).toBe(200);
    expect(await session.call(two, "fix__echo", { message: "goes on" })).toContain("goes on");
    await again.next("notifications/tools/list_changed");
    expect(await session.call(three, "fix__echo", { message: "and on" })).toContain("and on");
    expect(["forwarded", "direct", "safe"].map((key) => team.journal.executions(key))).toEqual([1, 1, 1]);
    const told = again.messages.filter(({ method }) => method === "notifications/tools/list_changed");
    expect(told).toHaveLength(1);
  });

  test("many requests for a session of a dead replica have one new owner", async () => {
    const team = await replicas(3);
    const [one, two, three] = team.replicas as [TeamProcess, TeamProcess, TeamProcess];
    const session = await openAt(team, one);
    const leveled = await session.request(one, "logging/setLevel", { level: "debug" });
    expect(leveled.status).toBe(200);
    await leveled.text();
    const rooted = await new RawSession(team.key).open(one, { roots: {} });
    await until(async () => (await team.database.sql("SELECT 1 FROM metamcp_sessions")).length === 1);
    await one.kill("SIGKILL");
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => session.request(n % 2 ? two : three, "tools/list")),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const rows = await team.database.sql("SELECT owner, ended, kept FROM metamcp_sessions");
    expect(rows).toEqual([{ owner: expect.any(String), ended: 0, kept: '{"level":"debug"}' }]);

    // The log level is as the client had set it, and roots are asked for again.
    const logging = await session.stream(two, "tools/call", call("log", { level: "debug", data: "hello" }));
    expect((await logging.next("notifications/message")).params.data).toBe("hello");
    const asking = await rooted.stream(two, "tools/call", call("roots"));
    const { id } = await asking.next("roots/list");
    await rooted.post(three, { id, result: { roots: [{ uri: "file:///a" }] } });
    expect(JSON.stringify((await asking.next()).result)).toContain("file:///a");
  });
});
