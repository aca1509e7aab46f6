import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { ANONYMOUS, LOCAL_USER, PERSONAL } from "../../kernel/principal.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import type { Message } from "../../rpc/message.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import type { ClientRequest, Surface } from "../../surface/surface.ts";
import { StatelessClients } from "./stateless-clients.ts";
import type { RequestSource } from "./stateless-host.ts";

const KEY = "io.modelcontextprotocol/";
const ALL = { elicitation: {}, sampling: {}, roots: {} };
const QUESTION = { message: "Sure?" };

type Received = Record<string, unknown> & {
  result?: Record<string, unknown> & { requestState?: string; inputRequests?: Record<string, unknown> };
  error?: { code: number; message: string; data?: unknown };
};

interface SurfaceCall {
  readonly request: ClientRequest;
  answer(result: unknown): void;
  fail(error: unknown): void;
}

/** Stateless clients on a surface whose calls are answered by the test. */
class Fixture {
  readonly clock = new ManualClock();
  readonly calls: SurfaceCall[] = [];
  readonly ended: string[] = [];
  readonly era2026: StatelessClients;
  #lastId = 0;

  constructor(surface: Partial<Surface> = {}) {
    this.era2026 = new StatelessClients({
      endpoint: PERSONAL,
      clock: this.clock,
      onEnded: (session) => void this.ended.push(session),
      surface: {
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
        instructions: () => "Use it well.",
        handle: (request) =>
          new Promise<Raw>((resolve, reject) => {
            this.calls.push({ request, answer: (result) => resolve(toRaw(result)), fail: reject });
            request.signal.addEventListener("abort", () => reject(request.signal.reason as Error));
          }),
        ...surface,
      },
    });
  }

  /** Sends a request and records all messages that come back. */
  send(
    method: string,
    params: object = {},
    {
      capabilities = ALL,
      meta = {},
      from = {},
    }: { capabilities?: object; meta?: object; from?: Partial<RequestSource> } = {},
  ) {
    const envelope = { [`${KEY}protocolVersion`]: "2026-07-28", [`${KEY}clientCapabilities`]: capabilities };
    return this.sendRaw(method, { ...params, _meta: { ...envelope, ...meta } }, from);
  }

  sendRaw(method: string, params: unknown, from: Partial<RequestSource> = {}) {
    const heard: Received[] = [];
    const statuses: number[] = [];
    const id = ++this.#lastId;
    const message = { kind: "request" as const, id: toRaw(id), method, params: toRaw(params) };
    const served = this.era2026.serve(message, {
      principal: LOCAL_USER,
      send: (answer, status) => {
        heard.push(read(answer));
        statuses.push(status);
      },
      ...from,
    });
    return { id, heard, statuses, served, last: () => heard.at(-1) as Received };
  }

  call(params: object = {}, options: Parameters<Fixture["send"]>[2] = {}) {
    return this.send("tools/call", { name: "t", arguments: { a: 1, b: [2] }, ...params }, options);
  }

  get current(): SurfaceCall {
    return this.calls.at(-1) as SurfaceCall;
  }
}

function read(message: Message): Received {
  const { kind, ...rest } = message;
  const values = Object.entries(rest).map(([key, value]) => [
    key,
    Buffer.isBuffer(value) ? fromRaw(value as Raw) : value,
  ]);
  return { kind, ...Object.fromEntries(values) };
}

/** Questions are collected for one turn of the event loop. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const ask = (
  { request }: SurfaceCall,
  method = "elicitation/create",
  params: unknown = QUESTION,
  name?: string,
) => {
  const answer = request.uplink.request(method, toRaw(params), new CallSignal(), name ? { name } : {});
  answer.catch(() => {});
  return answer;
};

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

test("a question of a child becomes an answer to the client, and the client's retry continues the call", async () => {
  const fixture = new Fixture();
  const first = fixture.call({}, { meta: { progressToken: "one" } });
  const answer = ask(fixture.current);
  const { uplink } = fixture.current.request;
  uplink.notify("notifications/progress", toRaw({ progressToken: "one", progress: 1 }));
  await turn();
  expect(first.heard.at(0)).toMatchObject({
    method: "notifications/progress",
    params: { progressToken: "one" },
  });
  const { result } = first.last();
  const [name = ""] = Object.keys(result?.inputRequests ?? {});
  expect(result).toEqual({
    resultType: "input_required",
    inputRequests: { [name]: { method: "elicitation/create", params: QUESTION } },
    requestState: expect.any(String),
    _meta: expect.anything(),
  });
  expect(fixture.era2026.serving).toBe(0);

  const retry = fixture.call(
    { inputResponses: { [name]: { action: "accept" }, other: {} }, requestState: result?.requestState },
    { meta: { progressToken: 2 } },
  );
  expect(fromRaw(await answer)).toEqual({ action: "accept" });
  expect(fixture.era2026.serving).toBe(1);
  uplink.notify("notifications/progress", toRaw({ progressToken: "one", progress: 2 }));
  fixture.current.answer({ content: ["done"] });
  await turn();
  expect(retry.heard).toMatchObject([
    { method: "notifications/progress", params: { progressToken: 2, progress: 2 } },
    { id: 2, result: { resultType: "complete", content: ["done"] } },
  ]);
  expect(fixture.calls).toHaveLength(1);
  expect(fixture.ended).toHaveLength(1);
  expect([fixture.era2026.serving, fixture.clock.pending]).toEqual([0, 0]);
});

test("questions of the same turn are sent together under the child's names, until all are answered", async () => {
  const fixture = new Fixture();
  const first = fixture.call();
  const answers = [
    ask(fixture.current, "elicitation/create", QUESTION, "who"),
    ask(fixture.current, "sampling/createMessage", {}, "who"),
    ask(fixture.current, "roots/list", {}, "where"),
  ];
  await turn();
  const asked = first.last().result?.inputRequests ?? {};
  expect(Object.keys(asked)).toEqual(["who", "sampling-2", "where"]);

  const { requestState } = first.last().result ?? {};
  const second = fixture.call({ inputResponses: { who: { action: "decline" } }, requestState });
  await turn();
  expect(Object.keys(second.last().result?.inputRequests ?? {})).toEqual(["sampling-2", "where"]);
  expect(second.last().result?.requestState).not.toBe(requestState);
  fixture.call({
    inputResponses: { "sampling-2": { role: "assistant" }, where: { roots: [] } },
    requestState: second.last().result?.requestState,
  });
  expect((await Promise.all(answers)).map(fromRaw)).toEqual([
    { action: "decline" },
    { role: "assistant" },
    { roots: [] },
  ]);
});

test("an answer sent with the first request is used for one question of that name", async () => {
  const fixture = new Fixture();
  const { heard } = fixture.call({ inputResponses: { who: { action: "accept" }, extra: {} } });
  expect(fromRaw(await ask(fixture.current, "elicitation/create", QUESTION, "who"))).toEqual({
    action: "accept",
  });
  expect(heard).toEqual([]);
  void ask(fixture.current, "elicitation/create", QUESTION, "who");
  await turn();
  expect(heard).toMatchObject([{ result: { resultType: "input_required", inputRequests: { who: {} } } }]);
});

test("a result that arrives while the call is parked is kept for the retry", async () => {
  const fixture = new Fixture();
  const first = fixture.call();
  const answer = ask(fixture.current);
  await turn();
  fixture.current.answer({ content: [] });
  await expect(answer).rejects.toThrow("ended");
  const retry = fixture.call({ requestState: first.last().result?.requestState });
  expect(retry.last().result).toMatchObject({ resultType: "complete" });
});

test("a requestState that is forged, of another caller or request, used or expired is refused without effect", async () => {
  const fixture = new Fixture();
  const first = fixture.call();
  const answer = ask(fixture.current);
  await turn();
  const { requestState = "" } = first.last().result ?? {};
  const inputResponses = { "elicitation-1": { action: "accept" } };
  const refused = (params: object, options: Parameters<Fixture["send"]>[2] = {}): string | undefined => {
    const { heard, statuses } = fixture.call({ inputResponses, requestState, ...params }, options);
    expect([heard.length, heard[0]?.error?.code, statuses]).toEqual([1, -32602, [200]]);
    return heard[0]?.error?.message;
  };
  expect(refused({ requestState: `${requestState}-TAMPERED` })).toContain("belongs to another request");
  expect(refused({ requestState: `A${requestState.slice(1)}` })).toContain("belongs to another request");
  expect(refused({ requestState: "" })).toContain("belongs to another request");
  expect(refused({}, { from: { principal: { ...LOCAL_USER, id: "someone else" } } })).toContain(
    "belongs to another request",
  );
  expect(refused({ arguments: { a: 2 } })).toContain("belongs to another request");
  expect(refused({ name: "u" })).toContain("belongs to another request");
  expect(fixture.calls).toHaveLength(1);

  // The same request may be written in another order.
  const retry = fixture.call({ arguments: { b: [2], a: 1 }, inputResponses, requestState });
  await answer;
  expect(retry.heard).toEqual([]);
  expect(refused({})).toContain("already used");

  void ask(fixture.current);
  await turn();
  const again = retry.last().result?.requestState;
  fixture.clock.advance(600_001);
  expect(refused({ requestState: again })).toContain("expired");
  expect(fixture.calls).toHaveLength(1);
  expect(fixture.current.request.signal.aborted).toBe(true);
});

test("questions are refused without the client's capability, or if the method does not allow questions", async () => {
  const fixture = new Fixture();
  const { heard } = fixture.call({}, { capabilities: { elicitation: { url: {} }, sampling: {} } });
  const refusal = (method: string, params: unknown = {}): Promise<unknown> =>
    ask(fixture.current, method, params).catch((error: RpcError) => [error.code, error.message]);
  expect(await refusal("elicitation/create")).toEqual([-32601, expect.stringContaining('{"form":{}}')]);
  expect(await refusal("roots/list")).toEqual([-32601, expect.stringContaining("roots")]);
  expect(await refusal("sampling/createMessage", { tools: [] })).toEqual([
    -32601,
    expect.stringContaining("tools"),
  ]);
  expect(await refusal("unknown/question")).toEqual([-32601, expect.any(String)]);
  await turn();
  expect(heard).toEqual([]);
  void ask(fixture.current, "elicitation/create", { mode: "url" });
  await turn();
  expect(heard).toHaveLength(1);

  fixture.send("tools/list");
  expect(await refusal("roots/list")).toEqual([-32601, expect.stringContaining("cannot ask questions")]);
});

test("URL elicitation of a legacy child becomes a question, whether it is a request or an error", async () => {
  const fixture = new Fixture();
  const page = { mode: "url", url: "https://x.example/login", message: "Log in" };
  const able = { capabilities: { elicitation: { url: {} } } };
  const asked = fixture.call({}, able);
  void ask(fixture.current, "elicitation/create", { ...page, elicitationId: "e1" });
  await turn();
  expect(Object.values(asked.last().result?.inputRequests ?? {})).toEqual([
    { method: "elicitation/create", params: page },
  ]);

  const required = RpcError.of(-32042, "log in first", { elicitations: [{ ...page, elicitationId: "e2" }] });
  const failed = fixture.call({}, able);
  fixture.current.fail(required);
  await turn();
  expect(failed.last().result).toEqual({
    resultType: "input_required",
    inputRequests: { e2: { method: "elicitation/create", params: page } },
    _meta: expect.anything(),
  });
  const again = fixture.call({ inputResponses: { e2: { action: "accept" } } }, able);
  fixture.current.answer({ content: [] });
  await turn();
  expect(again.last().result).toMatchObject({ resultType: "complete" });

  const unable = fixture.call({}, { capabilities: { elicitation: {} } });
  fixture.current.fail(required);
  await turn();
  expect([unable.last().error, unable.statuses]).toMatchObject([
    { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } },
    [400],
  ]);
});

test("a client that disconnects cancels its call, unless it has received a question", async () => {
  const fixture = new Fixture();
  const first = fixture.call();
  first.served.cancel("gone");
  expect(fixture.current.request.signal.aborted).toBe(true);
  fixture.current.answer({});
  await turn();
  expect(first.heard).toEqual([]);

  const second = fixture.call();
  void ask(fixture.current);
  await turn();
  second.served.cancel("closed after the answer");
  expect(fixture.current.request.signal.aborted).toBe(false);
  const retry = fixture.call({ requestState: second.last().result?.requestState });
  retry.served.cancel("gone");
  expect(fixture.current.request.signal.aborted).toBe(true);
  expect(fixture.ended).toHaveLength(2);
});

test("when more than 256 calls are parked, the oldest is cancelled", async () => {
  const fixture = new Fixture();
  for (let n = 0; n <= 256; n++) {
    fixture.call();
    void ask(fixture.current);
  }
  await turn();
  const aborted = fixture.calls.map(({ request }) => request.signal.aborted);
  expect(aborted.filter(Boolean)).toHaveLength(1);
  expect(aborted[0]).toBe(true);
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
