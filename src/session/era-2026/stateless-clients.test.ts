import { expect, test } from "vitest";
import { ANONYMOUS, LOCAL_USER, PERSONAL } from "../../kernel/principal.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { ask, Fixture, KEY, turn } from "./stateless-clients.fixture.ts";
import type { RequestSource } from "./stateless-host.ts";

test("server/discover returns versions, capabilities and instructions with the members required by this era", async () => {
  const fixture = new Fixture();
  const { heard } = fixture.send("server/discover");
  await turn();
  expect(heard).toEqual([
    {
      kind: "result",
      id: 1,
      result: {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
        instructions: "Use it well.",
        ttlMs: expect.any(Number),
        cacheScope: "private",
        _meta: { [`${KEY}serverInfo`]: expect.objectContaining({ name: "metamcp" }) },
      },
    },
  ]);
});

test("results get the required members they lack", async () => {
  const fixture = new Fixture();
  const list = fixture.send("tools/list");
  fixture.current.answer({ tools: [] });
  const call = fixture.call();
  const own = { resultType: "x/own", _meta: { [`${KEY}serverInfo`]: { name: "child" } }, content: [] };
  fixture.current.answer(own);
  const old = fixture.call();
  fixture.current.answer({ content: [], resultType: "input_required", _meta: { a: 1 } });
  await turn();
  expect(list.last().result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
  expect(call.last().result).toEqual(own);
  expect(old.last().result).toEqual({
    content: [],
    resultType: "complete",
    _meta: { a: 1, [`${KEY}serverInfo`]: expect.anything() },
  });
});

test("the surface gets the params without the envelope", async () => {
  const fixture = new Fixture();
  fixture.call(
    {},
    { capabilities: { roots: {} }, meta: { progressToken: 7, [`${KEY}clientInfo`]: { name: "c" } } },
  );
  const { request } = fixture.current;
  expect(fromRaw(request.params as Raw)).toEqual({
    name: "t",
    arguments: { a: 1, b: [2] },
    _meta: { progressToken: 7 },
  });
  expect(fromRaw(request.origin.capabilities)).toEqual({ roots: {} });
  fixture.current.answer({});
  await turn();
  expect(fixture.ended).toEqual([request.origin.session]);
});

test("malformed requests, other versions and unknown methods are refused with the right code and status", () => {
  const fixture = new Fixture();
  const envelope = { [`${KEY}protocolVersion`]: "2026-07-28", [`${KEY}clientCapabilities`]: {} };
  const other = { ...envelope, [`${KEY}protocolVersion`]: "2027-01-01" };
  const refusals: [string, unknown, number, number][] = [
    ["tools/list", {}, -32602, 400],
    ["tools/list", { _meta: other }, -32022, 400],
    ["initialize", { _meta: envelope }, -32601, 404],
    ["ping", { _meta: envelope }, -32601, 404],
    ["logging/setLevel", { _meta: envelope, level: "info" }, -32601, 404],
    ["resources/subscribe", { _meta: envelope, uri: "x" }, -32601, 404],
    ["unknown/method", { _meta: envelope }, -32601, 404],
  ];
  for (const [method, params, code, status] of refusals) {
    const { heard, statuses, id } = fixture.sendRaw(method, params);
    expect(heard, method).toMatchObject([{ kind: "error", id, error: { code } }]);
    expect(statuses, method).toEqual([status]);
  }
  const { heard } = fixture.sendRaw("tools/list", { _meta: other });
  expect(heard[0]?.error?.data).toEqual({ supported: ["2026-07-28"], requested: "2027-01-01" });
  expect(fixture.calls).toEqual([]);
});

test("a request whose headers contradict its body is refused", () => {
  const fixture = new Fixture({
    tool: () => toRaw({ inputSchema: { properties: { a: { type: "integer", "x-mcp-header": "A" } } } }),
  });
  const right = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "t",
    "mcp-param-a": "1.0",
  };
  const code = (headers: RequestSource["headers"]): unknown => {
    const before = fixture.calls.length;
    const { heard, statuses } = fixture.call(
      {},
      { from: { headers: headers as NonNullable<RequestSource["headers"]> } },
    );
    if (heard.length > 0) expect([statuses[0], fixture.calls.length]).toEqual([400, before]);
    return heard[0]?.error?.code;
  };
  expect(code(right)).toBeUndefined();
  expect(code({ ...right, "mcp-name": "=?base64?dA==?=" })).toBeUndefined();
  for (const wrong of [
    { "mcp-protocol-version": "2025-11-25" },
    { "mcp-protocol-version": undefined },
    { "mcp-method": "tools/list" },
    { "mcp-method": undefined },
    { "mcp-name": "T" },
    { "mcp-name": undefined },
    { "mcp-name": "=?base64?!?=" },
    { "mcp-param-a": "2" },
    { "mcp-param-a": undefined },
  ])
    expect(code({ ...right, ...wrong }), JSON.stringify(wrong)).toBe(-32020);
});

test("errors use the codes of this era, and name only capabilities that this client lacks", async () => {
  const fixture = new Fixture();
  const failed = async (error: unknown, capabilities: object = {}): Promise<unknown> => {
    const { last, statuses } = fixture.call({}, { capabilities });
    fixture.current.fail(error);
    await turn();
    return [last().error?.code, statuses[0]];
  };
  expect(await failed(RpcError.of(-32002, "not found"))).toEqual([-32602, 200]);
  expect(await failed(RpcError.of(-32042, "visit a page"))).toEqual([-32603, 200]);
  expect(await failed(RpcError.of(-32021, "bare"))).toEqual([-32603, 200]);
  expect(await failed(RpcError.of(-32601, "the tool says so"))).toEqual([-32601, 200]);
  expect(await failed(RpcError.of(7, "own"))).toEqual([7, 200]);
  expect(await failed(new Error("secret path"))).toEqual([-32603, 200]);
  const needs = RpcError.of(-32603, "needs", { requiredCapabilities: { sampling: {} } });
  expect(await failed(needs)).toEqual([-32021, 400]);
  expect(await failed(needs, { sampling: {} })).toEqual([-32603, 200]);
});

test("log messages are sent only if the request names a level, and only from that level on", async () => {
  const fixture = new Fixture();
  const quiet = fixture.call();
  fixture.current.request.uplink.notify("notifications/message", toRaw({ level: "error", data: 1 }));
  expect(quiet.heard).toEqual([]);

  const loud = fixture.call({}, { meta: { [`${KEY}logLevel`]: "warning" } });
  const { method, params: level } = fixture.current.request;
  expect([method, fromRaw(level as Raw)]).toEqual(["logging/setLevel", { level: "warning" }]);
  fixture.current.answer({});
  await turn();
  for (const grave of ["info", "warning", "alert"])
    fixture.current.request.uplink.notify("notifications/message", toRaw({ level: grave, data: 1 }));
  expect(loud.heard.map(({ params }) => (params as { level: string }).level)).toEqual(["warning", "alert"]);
});

test("when MetaMCP stops, parked calls are cancelled and new requests are refused", async () => {
  const fixture = new Fixture();
  fixture.call();
  void ask(fixture.current);
  await turn();
  fixture.era2026.refuse();
  expect(fixture.current.request.signal.aborted).toBe(true);
  const { heard, statuses } = fixture.call();
  expect([heard, statuses]).toMatchObject([[{ error: { code: -32603 } }], [503]]);
  expect(fixture.calls).toHaveLength(1);
});

test("a principal with 1,000 open subscriptions gets no more, and others do", async () => {
  const fixture = new Fixture();
  const listen = (from: Partial<RequestSource> = {}) =>
    fixture.send("subscriptions/listen", { notifications: {} }, { from });
  for (let n = 0; n < 1_000; n++) listen();
  const [own, other] = [listen(), listen({ principal: { ...LOCAL_USER, id: "other" } })];
  await turn();
  expect(own.last()).toMatchObject({ error: { message: "too many subscriptions are open" } });
  expect(other.heard.filter(({ error }) => error)).toEqual([]);
});

test("state of a client belongs to its connection, else to its principal, and is unlisted for anonymous clients", () => {
  const fixture = new Fixture();
  const originOf = (from: Partial<RequestSource>) => {
    fixture.call({}, { from });
    return fixture.calls.at(-1)?.request.origin;
  };
  const token = { id: "token 1", kind: "token", roles: [], groups: [] } as const;
  expect(originOf({ principal: token })).toMatchObject({
    endpoint: PERSONAL,
    principal: token,
    sessionless: true,
    unlisted: false,
  });
  expect(originOf({ principal: token, unlisted: true })).toMatchObject({ unlisted: true });
  expect(originOf({ principal: ANONYMOUS })).toMatchObject({ sessionless: true, unlisted: true });
  expect(originOf({ session: "stdin" })).toMatchObject({ session: "stdin", principal: LOCAL_USER });
  expect(originOf({ session: "stdin" })).not.toHaveProperty("sessionless");
});
