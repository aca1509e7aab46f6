import { expect, test } from "vitest";
import type { Asking, Origin } from "../../kernel/call.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { LOCAL } from "../../kernel/principal.ts";
import { asRaw, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { CallSignal, type Signal } from "../../kernel/signal.ts";
import type { Message } from "../../rpc/message.ts";
import { Peer } from "../../rpc/peer.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { closed } from "../breaker.ts";
import { claimOf } from "../claim.ts";
import type { Link } from "../link.ts";
import { RequestHeaders } from "./request-headers.ts";
import { Stateless } from "./stateless.ts";

const KEY = "io.modelcontextprotocol/";
type Params = Record<string, unknown> & { _meta: Record<string, unknown> };
type Answer = { result: unknown } | { error: object } | undefined;

/** A child behind a real peer. `answer` returns its answers. */
function child(answer: (method: string, params: Params) => Answer, http = true) {
  const sent: { method: string; params: Params; headers: Record<string, string> }[] = [];
  const headers = new RequestHeaders();
  const changed: string[] = [];
  const problems: string[] = [];
  const clock = new ManualClock();
  const cancelled: unknown[] = [];
  const peer: Peer = new Peer(
    (message: Message) => {
      if (message.kind === "notification") cancelled.push(fromRaw(message.params as Raw));
      if (message.kind !== "request") return;
      const params = fromRaw(message.params as Raw) as Params;
      sent.push({ method: message.method, params, headers: headers.of(message) });
      const said = answer(message.method, params);
      if (said && "result" in said)
        queueMicrotask(() => peer.receive({ kind: "result", id: message.id, result: toRaw(said.result) }));
      else if (said)
        queueMicrotask(() => peer.receive({ kind: "error", id: message.id, error: toRaw(said.error) }));
    },
    { onRequest: () => Promise.reject(new Error("none")), onNotification: () => {} },
  );
  const link = (http ? { stateless: () => {} } : {}) as unknown as Link;
  const stateless = new Stateless(
    {
      peer,
      link,
      clock,
      capabilities: toRaw({ roots: {} }),
      warn: (problem) => void problems.push(problem),
      onListChanged: (method) => void changed.push(method),
    },
    headers,
  );
  return { stateless, sent, changed, problems, clock, peer, cancelled };
}

/** A caller. `ask` answers questions of the child. */
function caller(
  ask: (method: string, params: unknown, name: string | undefined, signal: Signal) => Promise<unknown> = () =>
    Promise.reject(RpcError.of(-32601, "cannot be asked")),
  more: Partial<Origin> = {},
) {
  const uplink = {
    notify: () => {},
    request: async (method: string, params: Raw | undefined, signal: Signal, asking?: Asking) =>
      toRaw(await ask(method, params && fromRaw(params), asking?.name, signal)),
  };
  const origin: Origin = {
    ...LOCAL,
    session: "s",
    capabilities: toRaw({ elicitation: {}, roots: {} }),
    uplink,
    ...more,
  };
  return claimOf({ origin, uplink, repeat: "unknown" }, closed);
}

const complete = (more: object = {}) => ({ result: { resultType: "complete", content: [], ...more } });
const call = toRaw({ name: "t", arguments: { n: 1 }, _meta: { progressToken: 5, own: 1 } });
const signal = new CallSignal();

test("the caller's own members of _meta are kept, whatever their indentation", async () => {
  const { stateless, sent } = child(() => complete());
  const written = (meta: string): Raw => asRaw(Buffer.from(`{ "name": "t", "_meta": {${meta}} }`));
  const spaces = " ".repeat(24);
  await stateless.request(caller(), "tools/call", written(`${spaces}"progressToken": 7, "own": 1 `), signal);
  await stateless.request(caller(), "tools/call", written(spaces), signal);
  expect(sent[0]?.params._meta).toMatchObject({ progressToken: 1, own: 1 });
  expect(Object.keys(sent[1]?.params._meta ?? {})).toHaveLength(3);
});

test("every request carries the envelope with our version and name and the capabilities of the caller", async () => {
  const { stateless, sent } = child(() => complete());
  await stateless.request(caller(), "tools/call", call, signal);
  await stateless.ask("resources/list", undefined);
  const info = expect.objectContaining({ name: "metamcp" });
  expect(sent.map(({ params }) => params)).toEqual([
    {
      name: "t",
      arguments: { n: 1 },
      _meta: {
        [`${KEY}protocolVersion`]: "2026-07-28",
        [`${KEY}clientInfo`]: info,
        [`${KEY}clientCapabilities`]: { elicitation: {}, roots: {} },
        progressToken: 1,
        own: 1,
      },
    },
    {
      _meta: {
        [`${KEY}protocolVersion`]: "2026-07-28",
        [`${KEY}clientInfo`]: info,
        [`${KEY}clientCapabilities`]: { roots: {} },
      },
    },
  ]);
  expect(sent.map(({ headers }) => headers)).toEqual([
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "t" },
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "resources/list" },
  ]);
});

test("an envelope in the caller's params is replaced, and the tasks extension of the caller is not declared", async () => {
  const { stateless, sent } = child(() => complete());
  const foreign = toRaw({
    _meta: { [`${KEY}protocolVersion`]: "1999-01-01", [`${KEY}logLevel`]: "info", x: 1 },
  });
  const capabilities = toRaw({ extensions: { [`${KEY}tasks`]: {}, "com.example/y": {} } });
  await stateless.request(caller(undefined, { capabilities }), "tools/call", foreign, signal);
  const { _meta } = (sent[0] as { params: Params }).params;
  expect(_meta).toMatchObject({ [`${KEY}protocolVersion`]: "2026-07-28", [`${KEY}logLevel`]: "info", x: 1 });
  expect(_meta[`${KEY}clientCapabilities`]).toEqual({ extensions: { "com.example/y": {} } });
});

test("a client of the stateless era gets results unchanged, other clients without members of that era", async () => {
  const result = { resultType: "complete", contents: [], ttlMs: 5, cacheScope: "public", _meta: { a: 1 } };
  const { stateless } = child(() => ({ result }));
  const era2026 = await stateless.request(
    caller(undefined, { era2026: true }),
    "resources/read",
    call,
    signal,
  );
  const legacy = await stateless.request(caller(), "resources/read", call, signal);
  expect(era2026.toString()).toBe(JSON.stringify(result));
  expect(fromRaw(legacy)).toEqual({ contents: [], _meta: { a: 1 } });
});

test("the caller is asked all questions at once, and the request is sent again with the answers and the unchanged state", async () => {
  const state = 'st"a\\te é';
  const { stateless, sent } = child((_, { inputResponses }) =>
    inputResponses
      ? complete()
      : {
          result: {
            resultType: "input_required",
            inputRequests: {
              a: { method: "elicitation/create", params: { message: "?" } },
              b: { method: "roots/list" },
            },
            requestState: state,
          },
        },
  );
  const asked: unknown[] = [];
  let release: () => void = () => {};
  const both = new Promise<void>((resolve) => {
    release = resolve;
  });
  const who = caller(async (method, params, name) => {
    if (asked.push([method, params, name]) === 2) release();
    await both;
    return { for: name };
  });
  await stateless.request(who, "tools/call", call, signal);
  expect(asked).toEqual([
    ["elicitation/create", { message: "?" }, "a"],
    ["roots/list", undefined, "b"],
  ]);
  expect(sent).toHaveLength(2);
  expect(sent[1]?.params).toMatchObject({
    name: "t",
    arguments: { n: 1 },
    inputResponses: { a: { for: "a" }, b: { for: "b" } },
    requestState: state,
  });
});

test("a URL elicitation gets an elicitationId for clients of the session-based era", async () => {
  const page = { mode: "url", url: "https://x.example", message: "?" };
  const { stateless } = child((_, { inputResponses }) =>
    inputResponses
      ? complete()
      : {
          result: {
            resultType: "input_required",
            inputRequests: { a: { method: "elicitation/create", params: page } },
          },
        },
  );
  const asked: unknown[] = [];
  for (const era2026 of [false, true]) {
    const who = caller(
      (_, params) => {
        asked.push(params);
        return Promise.resolve({ action: "accept" });
      },
      { era2026, capabilities: toRaw({ elicitation: { url: {} } }) },
    );
    await stateless.request(who, "tools/call", call, signal);
  }
  expect(asked).toEqual([{ ...page, elicitationId: expect.any(String) }, page]);
});

test("the state of an earlier round is not sent again, and the number of rounds is limited", async () => {
  const { stateless, sent } = child((_, { requestState }) => ({
    result: {
      resultType: "input_required",
      inputRequests: { a: { method: "roots/list" } },
      ...(requestState === undefined && { requestState: "first" }),
    },
  }));
  const who = caller(() => Promise.resolve({ roots: [] }));
  await expect(stateless.request(who, "tools/call", call, signal)).rejects.toThrow("never answered");
  expect(sent.slice(0, 3).map(({ params }) => params["requestState"])).toEqual([
    undefined,
    "first",
    undefined,
  ]);
  expect(sent.length).toBeLessThan(100);
});

test("a request is sent again after a short wait if the child asks no question", async () => {
  const { stateless, sent, clock } = child((_, { requestState }) =>
    requestState ? complete() : { result: { resultType: "input_required", requestState: "busy" } },
  );
  const done = stateless.request(caller(), "tools/call", call, signal);
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toHaveLength(1);
  clock.advance(1_000);
  await done;
  expect(sent).toHaveLength(2);
});

test("a call fails if its client cannot answer, and questions stop when the call is cancelled or the connection ends", async () => {
  const question = {
    result: { resultType: "input_required", inputRequests: { a: { method: "roots/list" } } },
  };
  const { stateless, peer } = child(() => question);
  await expect(stateless.request(caller(), "tools/call", call, signal)).rejects.toThrow("cannot be asked");
  const unable = caller(() => Promise.resolve({}), { capabilities: toRaw({}) });
  await expect(stateless.request(unable, "tools/call", call, signal)).rejects.toThrow("did not declare");

  const never = (_: string, __: unknown, ___: string | undefined, asking: Signal): Promise<never> =>
    new Promise((_resolve, reject) => asking.addEventListener("abort", () => reject(asking.reason as Error)));
  const waiting = async (): Promise<[ReturnType<typeof caller>, Promise<unknown>, CallSignal]> => {
    const who = caller(never);
    const own = new CallSignal();
    const done = stateless.request(who, "tools/call", call, own).catch((error: Error) => error.message);
    await new Promise((resolve) => setImmediate(resolve));
    return [who, done, own];
  };
  const [, first, own] = await waiting();
  own.abort(new Error("the caller left"));
  expect(await first).toBe("the caller left");
  const [who, second] = await waiting();
  stateless.cancel(who, new Error("too slow"));
  expect(await second).toBe("too slow");
  const [, third] = await waiting();
  stateless.end(new Error("it died"));
  expect(await third).toBe("it died");
  expect(peer.pending).toBe(0);
});

test("errors about the envelope reach the client as internal errors", async () => {
  const failed = async (error: object): Promise<unknown> => {
    const { stateless } = child(() => ({ error }));
    return await stateless
      .request(caller(), "tools/call", call, signal)
      .catch(({ code, data }: RpcError) => [code, data]);
  };
  const requiredCapabilities = { sampling: {} };
  expect(await failed({ code: -32021, message: "m", data: { requiredCapabilities } })).toEqual([
    -32603,
    { requiredCapabilities },
  ]);
  expect(await failed({ code: -32022, message: "m", data: { supported: [] } })).toEqual([-32603, undefined]);
  expect(await failed({ code: -32602, message: "m", data: 1 })).toEqual([-32602, 1]);
});

test("the number of pages read from an endless list is limited", async () => {
  const { stateless, sent } = child((method) =>
    method === "tools/list"
      ? { result: { tools: [], nextCursor: "again" } }
      : { error: { code: -32020, message: "headers" } },
  );
  await expect(stateless.request(caller(), "tools/call", call, signal)).rejects.toThrow("headers");
  expect(sent.length).toBeLessThan(2_000);
});

test("parameters are repeated in headers, tools with an invalid declaration are left out, and a header mismatch is retried once", async () => {
  const tool = (name: string, header: string) => ({
    name,
    inputSchema: { properties: { region: { type: "string", "x-mcp-header": header } } },
  });
  let header = "Old";
  const { stateless, sent, problems } = child((method, _params) => {
    if (method === "tools/list" && header === "") return { result: { tools: [{ name: "t" }] } };
    if (method === "tools/list") return { result: { tools: [tool("t", header), tool("bad", "no name")] } };
    const given = sent.at(-1)?.headers ?? {};
    return given["mcp-param-new"] === "eu" ? complete() : { error: { code: -32020, message: "headers" } };
  });
  const list = fromRaw(await stateless.ask("tools/list", undefined)) as { tools: { name: string }[] };
  expect(list.tools.map(({ name }) => name)).toEqual(["t"]);
  expect(problems).toEqual([expect.stringContaining("bad")]);
  header = "New";
  const params = toRaw({ name: "t", arguments: { region: "eu" } });
  await stateless.request(caller(), "tools/call", params, signal);
  expect(sent.map(({ method }) => method)).toEqual(["tools/list", "tools/call", "tools/list", "tools/call"]);
  expect(sent[1]?.headers).toMatchObject({ "mcp-param-old": "eu" });

  header = "";
  await stateless.ask("tools/list", undefined);
  await stateless.request(caller(), "tools/call", params, signal).catch(() => {});
  expect(Object.keys(sent.at(-1)?.headers ?? {})).not.toContain("mcp-param-new");

  header = "Wrong";
  await stateless.ask("tools/list", undefined);
  await expect(stateless.request(caller(), "tools/call", params, signal)).rejects.toMatchObject({
    code: -32603,
  });
});

test("a listen stream that ends is reopened and its lists count as changed; one refused by the child is not reopened", async () => {
  const { stateless, sent, changed, clock, peer, cancelled } = child(() => undefined);
  stateless.begin({
    era: "2026",
    protocolVersion: "2026-07-28",
    capabilities: toRaw({ tools: { listChanged: true }, prompts: {}, resources: { listChanged: true } }),
    title: undefined,
    version: undefined,
    instructions: undefined,
  });
  expect(sent[0]).toMatchObject({
    method: "subscriptions/listen",
    params: { notifications: { toolsListChanged: true, resourcesListChanged: true } },
  });
  expect(changed).toEqual([]);
  peer.receive({ kind: "result", id: toRaw(1), result: toRaw({ resultType: "complete" }) });
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(1_000);
  expect(sent).toHaveLength(2);
  expect(changed).toEqual(["notifications/tools/list_changed", "notifications/resources/list_changed"]);
  // An error answer: the child does not support the stream.
  peer.receive({ kind: "error", id: toRaw(2), error: toRaw({ code: -32601, message: "no" }) });
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(100_000);
  expect(sent).toHaveLength(2);
  stateless.end(new Error("over"));
  expect(clock.pending).toBe(0);
  expect(cancelled).toEqual([]);
});

test("ping, log levels and subscriptions are translated to the requests of this era", async () => {
  const { stateless, sent, cancelled } = child((method) =>
    method === "subscriptions/listen" ? undefined : complete(),
  );
  await stateless.ask("ping", undefined);
  await stateless.ask("logging/setLevel", toRaw({ level: "debug" }));
  await stateless.request(caller(), "tools/call", call, signal);
  await stateless.request(caller(), "resources/subscribe", toRaw({ uri: "a://1" }), signal);
  await stateless.request(caller(), "resources/subscribe", toRaw({ uri: "a://2" }), signal);
  await stateless.ask("resources/unsubscribe", toRaw({ uri: "a://1" }));
  stateless.notify();
  expect(sent.map(({ method, params }) => [method, params["notifications"]])).toEqual([
    ["server/discover", undefined],
    ["tools/call", undefined],
    ["subscriptions/listen", { resourceSubscriptions: ["a://1"] }],
    ["subscriptions/listen", { resourceSubscriptions: ["a://1", "a://2"] }],
    ["subscriptions/listen", { resourceSubscriptions: ["a://2"] }],
  ]);
  expect(sent[1]?.params._meta[`${KEY}logLevel`]).toBe("debug");
  expect(cancelled).toMatchObject([{ requestId: 3 }, { requestId: 4 }]);
});

test("acknowledgements and subscription ids are not forwarded to clients", () => {
  const { stateless } = child(() => undefined);
  const params = toRaw({ uri: "a", _meta: { [`${KEY}subscriptionId`]: 7, x: 1 } });
  const forwarded = stateless.forClients("notifications/resources/updated", params);
  expect(forwarded?.params && fromRaw(forwarded.params)).toEqual({ uri: "a", _meta: { x: 1 } });
  expect(stateless.forClients("notifications/subscriptions/acknowledged", params)).toBeUndefined();
  expect(stateless.forClients("notifications/other", undefined)).toEqual({ params: undefined });
});
