import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { ANONYMOUS, LOCAL_USER, PERSONAL } from "../../kernel/principal.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import type { Message } from "../../rpc/message.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import type { ClientRequest, Surface } from "../../surface/surface.ts";
import { StatelessClients } from "./stateless-clients.ts";
import type { From } from "./stateless-host.ts";

const KEY = "io.modelcontextprotocol/";
const ALL = { elicitation: {}, sampling: {}, roots: {} };
const QUESTION = { message: "Sure?" };

type Heard = Record<string, unknown> & {
  result?: Record<string, unknown> & { requestState?: string; inputRequests?: Record<string, unknown> };
  error?: { code: number; message: string; data?: unknown };
};

interface Asked {
  readonly request: ClientRequest;
  answer(result: unknown): void;
  fail(error: unknown): void;
}

/** A surface whose calls are answered by the test. */
class World {
  readonly clock = new ManualClock();
  readonly calls: Asked[] = [];
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

  /** Sends a request and keeps all that comes back on it. */
  send(
    method: string,
    params: object = {},
    {
      capabilities = ALL,
      meta = {},
      from = {},
    }: { capabilities?: object; meta?: object; from?: Partial<From> } = {},
  ) {
    const envelope = { [`${KEY}protocolVersion`]: "2026-07-28", [`${KEY}clientCapabilities`]: capabilities };
    return this.sendRaw(method, { ...params, _meta: { ...envelope, ...meta } }, from);
  }

  sendRaw(method: string, params: unknown, from: Partial<From> = {}) {
    const heard: Heard[] = [];
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
    return { id, heard, statuses, served, last: () => heard.at(-1) as Heard };
  }

  call(params: object = {}, options: Parameters<World["send"]>[2] = {}) {
    return this.send("tools/call", { name: "t", arguments: { a: 1, b: [2] }, ...params }, options);
  }

  get current(): Asked {
    return this.calls.at(-1) as Asked;
  }
}

function read(message: Message): Heard {
  const { kind, ...rest } = message;
  const values = Object.entries(rest).map(([key, value]) => [
    key,
    Buffer.isBuffer(value) ? fromRaw(value as Raw) : value,
  ]);
  return { kind, ...Object.fromEntries(values) };
}

/** Questions are put together in one turn of the loop. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const ask = (
  { request }: Asked,
  method = "elicitation/create",
  params: unknown = QUESTION,
  name?: string,
) => {
  const answer = request.uplink.request(method, toRaw(params), new CallSignal(), name ? { name } : {});
  answer.catch(() => {});
  return answer;
};

test("server/discover tells what there is, stamped as this era wants it", async () => {
  const world = new World();
  const { heard } = world.send("server/discover");
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

test("results are completed by what they do not say themselves", async () => {
  const world = new World();
  const list = world.send("tools/list");
  world.current.answer({ tools: [] });
  const call = world.call();
  const own = { resultType: "x/own", _meta: { [`${KEY}serverInfo`]: { name: "child" } }, content: [] };
  world.current.answer(own);
  const old = world.call();
  world.current.answer({ content: [], resultType: "input_required", _meta: { a: 1 } });
  await turn();
  expect(list.last().result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
  expect(call.last().result).toEqual(own);
  expect(old.last().result).toEqual({
    content: [],
    resultType: "complete",
    _meta: { a: 1, [`${KEY}serverInfo`]: expect.anything() },
  });
});

test("what comes to the surface is a request like any other", async () => {
  const world = new World();
  world.call(
    {},
    { capabilities: { roots: {} }, meta: { progressToken: 7, [`${KEY}clientInfo`]: { name: "c" } } },
  );
  const { request } = world.current;
  expect(fromRaw(request.params as Raw)).toEqual({
    name: "t",
    arguments: { a: 1, b: [2] },
    _meta: { progressToken: 7 },
  });
  expect(fromRaw(request.origin.capabilities)).toEqual({ roots: {} });
  world.current.answer({});
  await turn();
  expect(world.ended).toEqual([request.origin.session]);
});

test("malformed, of another version, or of a method that is none: refused with the right code and status", () => {
  const world = new World();
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
    const { heard, statuses, id } = world.sendRaw(method, params);
    expect(heard, method).toMatchObject([{ kind: "error", id, error: { code } }]);
    expect(statuses, method).toEqual([status]);
  }
  const { heard } = world.sendRaw("tools/list", { _meta: other });
  expect(heard[0]?.error?.data).toEqual({ supported: ["2026-07-28"], requested: "2027-01-01" });
  expect(world.calls).toEqual([]);
});

test("headers must say what the body says", () => {
  const world = new World({
    tool: () => toRaw({ inputSchema: { properties: { a: { type: "integer", "x-mcp-header": "A" } } } }),
  });
  const right = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "t",
    "mcp-param-a": "1.0",
  };
  const code = (headers: From["headers"]): unknown => {
    const before = world.calls.length;
    const { heard, statuses } = world.call(
      {},
      { from: { headers: headers as NonNullable<From["headers"]> } },
    );
    if (heard.length > 0) expect([statuses[0], world.calls.length]).toEqual([400, before]);
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

test("errors come with the codes this era knows, and none about a hop that is not the client's", async () => {
  const world = new World();
  const failed = async (error: unknown, capabilities: object = {}): Promise<unknown> => {
    const { last, statuses } = world.call({}, { capabilities });
    world.current.fail(error);
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

test("a child that asks in the middle: the client is asked by an answer, comes back, and the call goes on", async () => {
  const world = new World();
  const first = world.call({}, { meta: { progressToken: "one" } });
  const answer = ask(world.current);
  const { uplink } = world.current.request;
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
  expect(world.era2026.serving).toBe(0);

  const retry = world.call(
    { inputResponses: { [name]: { action: "accept" }, other: {} }, requestState: result?.requestState },
    { meta: { progressToken: 2 } },
  );
  expect(fromRaw(await answer)).toEqual({ action: "accept" });
  expect(world.era2026.serving).toBe(1);
  uplink.notify("notifications/progress", toRaw({ progressToken: "one", progress: 2 }));
  world.current.answer({ content: ["done"] });
  await turn();
  expect(retry.heard).toMatchObject([
    { method: "notifications/progress", params: { progressToken: 2, progress: 2 } },
    { id: 2, result: { resultType: "complete", content: ["done"] } },
  ]);
  expect(world.calls).toHaveLength(1);
  expect(world.ended).toHaveLength(1);
  expect([world.era2026.serving, world.clock.pending]).toEqual([0, 0]);
});

test("questions of one breath are asked together, under the child's own names, until all are answered", async () => {
  const world = new World();
  const first = world.call();
  const answers = [
    ask(world.current, "elicitation/create", QUESTION, "who"),
    ask(world.current, "sampling/createMessage", {}, "who"),
    ask(world.current, "roots/list", {}, "where"),
  ];
  await turn();
  const asked = first.last().result?.inputRequests ?? {};
  expect(Object.keys(asked)).toEqual(["who", "sampling-2", "where"]);

  const { requestState } = first.last().result ?? {};
  const second = world.call({ inputResponses: { who: { action: "decline" } }, requestState });
  await turn();
  expect(Object.keys(second.last().result?.inputRequests ?? {})).toEqual(["sampling-2", "where"]);
  expect(second.last().result?.requestState).not.toBe(requestState);
  world.call({
    inputResponses: { "sampling-2": { role: "assistant" }, where: { roots: [] } },
    requestState: second.last().result?.requestState,
  });
  expect((await Promise.all(answers)).map(fromRaw)).toEqual([
    { action: "decline" },
    { role: "assistant" },
    { roots: [] },
  ]);
});

test("answers given beforehand are used once, by name", async () => {
  const world = new World();
  const { heard } = world.call({ inputResponses: { who: { action: "accept" }, extra: {} } });
  expect(fromRaw(await ask(world.current, "elicitation/create", QUESTION, "who"))).toEqual({
    action: "accept",
  });
  expect(heard).toEqual([]);
  void ask(world.current, "elicitation/create", QUESTION, "who");
  await turn();
  expect(heard).toMatchObject([{ result: { resultType: "input_required", inputRequests: { who: {} } } }]);
});

test("a result that is there before the client comes back waits for it", async () => {
  const world = new World();
  const first = world.call();
  const answer = ask(world.current);
  await turn();
  world.current.answer({ content: [] });
  await expect(answer).rejects.toThrow("ended");
  const retry = world.call({ requestState: first.last().result?.requestState });
  expect(retry.last().result).toMatchObject({ resultType: "complete" });
});

test("state that is forged, foreign, for another request, used or expired changes nothing", async () => {
  const world = new World();
  const first = world.call();
  const answer = ask(world.current);
  await turn();
  const { requestState = "" } = first.last().result ?? {};
  const inputResponses = { "elicitation-1": { action: "accept" } };
  const refused = (params: object, options: Parameters<World["send"]>[2] = {}): string | undefined => {
    const { heard, statuses } = world.call({ inputResponses, requestState, ...params }, options);
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
  expect(world.calls).toHaveLength(1);

  // The same request may be written in another order.
  const retry = world.call({ arguments: { b: [2], a: 1 }, inputResponses, requestState });
  await answer;
  expect(retry.heard).toEqual([]);
  expect(refused({})).toContain("already used");

  void ask(world.current);
  await turn();
  const again = retry.last().result?.requestState;
  world.clock.advance(600_001);
  expect(refused({ requestState: again })).toContain("expired");
  expect(world.calls).toHaveLength(1);
  expect(world.current.request.signal.aborted).toBe(true);
});

test("questions that were not declared, or on requests that take none, are refused", async () => {
  const world = new World();
  const { heard } = world.call({}, { capabilities: { elicitation: { url: {} }, sampling: {} } });
  const refusal = (method: string, params: unknown = {}): Promise<unknown> =>
    ask(world.current, method, params).catch((error: RpcError) => [error.code, error.message]);
  expect(await refusal("elicitation/create")).toEqual([-32601, expect.stringContaining('{"form":{}}')]);
  expect(await refusal("roots/list")).toEqual([-32601, expect.stringContaining("roots")]);
  expect(await refusal("sampling/createMessage", { tools: [] })).toEqual([
    -32601,
    expect.stringContaining("tools"),
  ]);
  expect(await refusal("unknown/question")).toEqual([-32601, expect.any(String)]);
  await turn();
  expect(heard).toEqual([]);
  void ask(world.current, "elicitation/create", { mode: "url" });
  await turn();
  expect(heard).toHaveLength(1);

  world.send("tools/list");
  expect(await refusal("roots/list")).toEqual([-32601, expect.stringContaining("cannot ask questions")]);
});

test("a page to visit is a question here, whichever way a child of the old era puts it", async () => {
  const world = new World();
  const page = { mode: "url", url: "https://x.example/login", message: "Log in" };
  const able = { capabilities: { elicitation: { url: {} } } };
  const asked = world.call({}, able);
  void ask(world.current, "elicitation/create", { ...page, elicitationId: "e1" });
  await turn();
  expect(Object.values(asked.last().result?.inputRequests ?? {})).toEqual([
    { method: "elicitation/create", params: page },
  ]);

  const required = RpcError.of(-32042, "log in first", { elicitations: [{ ...page, elicitationId: "e2" }] });
  const failed = world.call({}, able);
  world.current.fail(required);
  await turn();
  expect(failed.last().result).toEqual({
    resultType: "input_required",
    inputRequests: { e2: { method: "elicitation/create", params: page } },
    _meta: expect.anything(),
  });
  const again = world.call({ inputResponses: { e2: { action: "accept" } } }, able);
  world.current.answer({ content: [] });
  await turn();
  expect(again.last().result).toMatchObject({ resultType: "complete" });

  const unable = world.call({}, { capabilities: { elicitation: {} } });
  world.current.fail(required);
  await turn();
  expect([unable.last().error, unable.statuses]).toMatchObject([
    { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } },
    [400],
  ]);
});

test("a client that goes away has cancelled; one that was asked has not", async () => {
  const world = new World();
  const first = world.call();
  first.served.cancel("gone");
  expect(world.current.request.signal.aborted).toBe(true);
  world.current.answer({});
  await turn();
  expect(first.heard).toEqual([]);

  const second = world.call();
  void ask(world.current);
  await turn();
  second.served.cancel("closed after the answer");
  expect(world.current.request.signal.aborted).toBe(false);
  const retry = world.call({ requestState: second.last().result?.requestState });
  retry.served.cancel("gone");
  expect(world.current.request.signal.aborted).toBe(true);
  expect(world.ended).toHaveLength(2);
});

test("only so many wait: the oldest makes room, and its call is cancelled", async () => {
  const world = new World();
  for (let n = 0; n <= 256; n++) {
    world.call();
    void ask(world.current);
  }
  await turn();
  const aborted = world.calls.map(({ request }) => request.signal.aborted);
  expect(aborted.filter(Boolean)).toHaveLength(1);
  expect(aborted[0]).toBe(true);
});

test("log messages come only where a level was named, from that level on", async () => {
  const world = new World();
  const quiet = world.call();
  world.current.request.uplink.notify("notifications/message", toRaw({ level: "error", data: 1 }));
  expect(quiet.heard).toEqual([]);

  const loud = world.call({}, { meta: { [`${KEY}logLevel`]: "warning" } });
  const { method, params: level } = world.current.request;
  expect([method, fromRaw(level as Raw)]).toEqual(["logging/setLevel", { level: "warning" }]);
  world.current.answer({});
  await turn();
  for (const grave of ["info", "warning", "alert"])
    world.current.request.uplink.notify("notifications/message", toRaw({ level: grave, data: 1 }));
  expect(loud.heard.map(({ params }) => (params as { level: string }).level)).toEqual(["warning", "alert"]);
});

test("when MetaMCP stops, nobody is waited for and nothing new begins", async () => {
  const world = new World();
  world.call();
  void ask(world.current);
  await turn();
  world.era2026.refuse();
  expect(world.current.request.signal.aborted).toBe(true);
  const { heard, statuses } = world.call();
  expect([heard, statuses]).toMatchObject([[{ error: { code: -32603 } }], [503]]);
  expect(world.calls).toHaveLength(1);
});

test("what is kept for a client belongs to its connection, else to its principal, and is in no list where nobody knows who that is", () => {
  const world = new World();
  const originOf = (from: Partial<From>) => {
    world.call({}, { from });
    return world.calls.at(-1)?.request.origin;
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
