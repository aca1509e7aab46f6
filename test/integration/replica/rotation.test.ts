/** What clients carry over a change of the secret key, one replica after the other, and over an update. */
import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import { ChannelAgent } from "../../../src/replica/channel.ts";
import { endpointOf } from "../../../src/replica/endpoint-of.ts";
import { HopChannel } from "../../../src/replica/hop-channel.ts";
import { HOP, HOP_VERSION, OTHER_VERSION, PROTOCOL, TO } from "../../../src/replica/hop-protocol.ts";
import { ReplicaListener } from "../../../src/replica/listener.ts";
import { RawSession, replicas } from "../../support/replica-team.ts";
import { inStep, onPostgres, request2026, SECRET } from "../../support/replicas.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { temp } from "../../support/temp.ts";
import { TestPassage } from "../../support/test-passage.ts";
import { until } from "../../support/until.ts";

type Two = [TeamProcess, TeamProcess];

const TASKS = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };
const NO_PAUSE = ["--drain", "0", "--drain-calls", "2s"];
const RENEWED = {
  METAMCP_SECRET_KEY: "a-new-secret-for-both-gateways-9876543210",
  METAMCP_SECRET_KEY_OLD: SECRET.METAMCP_SECRET_KEY,
};

onPostgres("replicas that change", () => {
  test("a new secret key, one replica after the other: sessions, states, tasks and cursors go on", async () => {
    const team = await replicas(2, NO_PAUSE, { server: ["--tasks", "--tools", "600"] });
    const { key } = team;
    const [one, two] = team.replicas as Two;
    await inStep(team.replicas, key, "team");
    const session = await new RawSession(key).open(one, { elicitation: {} });
    const ask = (at: TeamProcess, more = {}) =>
      request2026(at, "team", key, "tools/call", { name: "fix__ask", arguments: {}, ...more });
    const { requestState, inputRequests } = (await ask(one)).result;
    const job = { name: "fix__job_required", arguments: { until: temp().path("never") } };
    const { taskId } = (await request2026(one, "team", key, "tools/call", job, TASKS)).result;
    const { nextCursor } = (await request2026(one, "team", key, "tools/list")).result;
    const reporting = { name: "fix__progress", arguments: { n: 1, hang: true }, _meta: { progressToken: 1 } };
    const hanging = await session.stream(one, "tools/call", reporting);
    const requestId = session.lastRequest;
    await hanging.next("notifications/progress");

    await two.kill("SIGTERM");
    const three = await team.start(NO_PAUSE, RENEWED);
    await inStep([three], key, "team");
    expect(await session.call(three, "fix__echo", { message: "still here" })).toBe("still here");
    expect((await session.listen(three, hanging.last)).status).toBe(200);
    await session.post(three, { method: "notifications/cancelled", params: { requestId } });
    const [name = ""] = Object.keys(inputRequests);
    const inputResponses = { [name]: { action: "accept", content: { name: "Ada" } } };
    expect((await ask(three, { requestState, inputResponses })).result.content[0].text).toBe("answered");
    const state = await request2026(three, "team", key, "tasks/get", { taskId }, TASKS);
    expect(state.result.status).toBe("working");
    const page = await request2026(three, "team", key, "tools/list", { cursor: nextCursor });
    expect(page.result.tools.length).toBeGreaterThan(0);
    // The other way round: a replica with the old key reaches the one with the new key.
    const late = await new RawSession(key).open(three);
    expect(await late.call(one, "fix__echo", { message: "back" })).toBe("back");

    await one.kill("SIGTERM");
    const four = await team.start(NO_PAUSE, RENEWED);
    await inStep([four], key, "team");
    expect(await session.call(four, "fix__echo", { message: "moved" })).toBe("moved");
    expect(await session.call(three, "fix__echo", { message: "and again" })).toBe("and again");
  });

  test("an id of a later version gets 503 while that runs beside this one, else 404", async () => {
    // Nobody answers the call that asks, for which a stop waits.
    const team = await replicas(1, NO_PAUSE);
    const [one] = team.replicas as [TeamProcess];
    const session = await new RawSession(team.key).open(one);
    const bytes = Buffer.from(session.id, "base64url");
    bytes[0] = 2;
    session.id = bytes.toString("base64url");
    expect((await session.request(one, "ping")).status).toBe(404);
    await team.database.sql(
      `INSERT INTO metamcp_replicas (id, address, version, state, since, seen, about)
       VALUES ('0123abcd', '127.0.0.1:1', '99.0.0', 'serving', clock_timestamp(), clock_timestamp() + interval '1 hour', '{}')`,
    );
    const refused = await until(async () => {
      const response = await session.request(one, "ping");
      return response.status === 503 ? response : undefined;
    });
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await refused.text()).toContain("another version");
    const later = (state: string) => `Ag${state.slice(2)}`;
    const asked = await request2026(one, "team", team.key, "tools/call", { name: "fix__ask", arguments: {} });
    const state = await request2026(one, "team", team.key, "tools/call", {
      name: "fix__ask",
      arguments: {},
      requestState: later(asked.result.requestState),
    });
    expect(state.error?.message).toContain("another version of the gateway");
  });
});

const KEY = Buffer.alloc(32, 7);

test("a replica refuses requests that are passed on in another version, and serves none of them", async () => {
  let served = 0;
  const listener = new ReplicaListener({
    key: KEY,
    self: "aaaa1111",
    routes: new Map(),
    serve: (_, response) => {
      served += 1;
      response.end();
    },
  });
  const address = await listener.listen({ host: "127.0.0.1", port: 0 });
  const agent = new ChannelAgent(KEY, "bbbb2222");
  const status = (path: string, more: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const headers = { [TO]: "aaaa1111", ...more };
      const asked = httpRequest({ ...endpointOf(address), agent, path, headers });
      asked.on("response", ({ statusCode = 0 }) => resolve(statusCode));
      asked.on("upgrade", (_, socket) => {
        socket.destroy();
        resolve(101);
      });
      asked.on("error", reject).end();
    });
  const upgraded = (version: string) =>
    status("/forward", { connection: "Upgrade", upgrade: PROTOCOL, [HOP]: version });
  expect([await upgraded("1"), await upgraded(""), await upgraded("3")]).toEqual(
    Array.from({ length: 3 }, () => OTHER_VERSION),
  );
  // As the first version did.
  expect(await status("/forward/metamcp/team/mcp", { [HOP]: "1" })).toBe(OTHER_VERSION);
  expect([await upgraded(HOP_VERSION), served]).toEqual([101, 0]);
  const passage = new TestPassage({ url: "/metamcp/team/mcp" });
  new HopChannel({ agent, self: "bbbb2222", target: { id: "aaaa1111", address }, onClosed: () => {} }).pass(
    passage,
  );
  expect([(await passage.whole).status, served]).toEqual([200, 1]);
  agent.destroy();
  await listener.close();
});
