import { expect, test } from "vitest";
import type { Call } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { callOf, newTrail, RESULT, raw, type TestCall, testPipeline } from "../layer.fixture.ts";

const PAIR = { from: "crm:*", to: "web:*" };
const read: TestCall = { tool: "crm:customers" };
const send: TestCall = { tool: "web:post" };
const apart = (more: object = {}) => ({ use: "flow", deny: [PAIR], ...more });

test("after a read, calls to the other place are refused for an hour, and the trail names the read", async () => {
  const { outcome, call, clock, seen } = await testPipeline([apart()]);
  expect(await outcome(send)).toMatch(/done/);
  expect(await outcome(read)).toMatch(/done/);
  const trail = newTrail();
  await expect(call({ ...send, more: { trail } })).rejects.toMatchObject({
    code: "forbidden",
    message: "web:post may not run after crm:customers was read.",
  });
  expect(trail).toMatchObject({ by: "flow", read: "crm:customers" });
  expect(await outcome({ tool: "mail:send" })).toMatch(/done/);
  expect(await outcome(read), "the opposite direction is allowed").toMatch(/done/);
  clock.advance(3_599_999);
  expect(await outcome(send)).toBe("forbidden");
  clock.advance(1);
  expect(await outcome(send)).toMatch(/done/);
  expect(seen.map(({ tool }) => tool)).toEqual(["post", "customers", "send", "customers", "post"]);
});

test.each([
  ["crm:customers", { tool: "crm:customers" }, true],
  ["crm:customers", { tool: "crm:prices" }, false],
  ["label:private", { tool: "any:thing", labels: ["private"] }, true],
  ["label:private", { tool: "any:thing", labels: ["privat"] }, false],
  [["erp:*", "label:private"], { tool: "erp:x" }, true],
  [["erp:*", "label:private"], { tool: "x:y", labels: ["private"] }, true],
  ["*", { tool: "x:y" }, true],
])("from %j matches a call of %j: %s", async (from, first, bars) => {
  const { outcome } = await testPipeline([
    { use: "flow", deny: [{ from, to: ["web:*", "label:open"] }], forMs: "5m" },
  ]);
  await outcome(first);
  expect(await outcome(send)).toMatch(bars ? /^forbidden$/ : /done/);
  expect(await outcome({ tool: "files:put", labels: ["open"] })).toMatch(bars ? /^forbidden$/ : /done/);
});

test.each<[string, Error, boolean]>([
  ["an error of the server", RpcError.of(-1, "the customer Ada is not there"), true],
  ["a timeout", new MetaMcpError("timeout", "late"), true],
  ["a refusal", new MetaMcpError("forbidden", "no"), false],
  ["a rate limit", new MetaMcpError("rate_limited", "no"), false],
])("%s counts as read: %s", async (_what, error, bars) => {
  const { outcome } = await testPipeline([apart()], async ({ tool }) => {
    if (tool === "customers") throw error;
    return raw(RESULT);
  });
  await outcome(read);
  expect(await outcome(send)).toMatch(bars ? /^forbidden$/ : /done/);
});

test("a notification during a call counts as read at once", async () => {
  let speak: (() => void) | undefined;
  const { outcome, call } = await testPipeline([apart()], (made) => {
    if (made.tool !== "customers") return Promise.resolve(raw(RESULT));
    speak = () => made.uplink.notify("notifications/message", raw('{"data":"Ada"}'));
    return new Promise(() => {});
  });
  void call(read);
  expect(await outcome(send)).toMatch(/done/);
  speak?.();
  expect(await outcome(send)).toBe("forbidden");
});

const at = (endpoint: string, id: string, session: string, wanted: TestCall): TestCall => {
  const { origin } = callOf();
  return {
    ...wanted,
    more: { origin: { ...origin, endpoint, session, principal: { ...origin.principal, id } } },
  };
};

test("reads count per principal and endpoint, or per session", async () => {
  const { outcome } = await testPipeline([apart()]);
  await outcome(at("e", "ada", "s", read));
  expect(await outcome(at("e", "ada", "another", send))).toBe("forbidden");
  expect(await outcome(at("e", "eve", "s", send))).toMatch(/done/);
  expect(await outcome(at("f", "ada", "s", send))).toMatch(/done/);
  const { outcome: bySession } = await testPipeline([apart({ by: "session" })]);
  await bySession(at("e", "ada", "s", read));
  expect(await bySession(at("e", "ada", "s", send))).toBe("forbidden");
  expect(await bySession(at("e", "ada", "another", send))).toMatch(/done/);
});

test("ask asks the person, deny wins over ask, and a call without facts is refused", async () => {
  const { outcome } = await testPipeline([{ use: "flow", ask: [PAIR] }]);
  await outcome(read);
  const call = callOf(send);
  const uplink = { notify: () => {}, request: async () => raw('{"action":"accept"}') };
  const origin = { ...call.origin, capabilities: raw('{"elicitation":{}}') };
  expect(await outcome({ ...call, uplink, origin })).toMatch(/done/);
  expect(await outcome(send), "a client that cannot be asked has not permitted it").toBe("forbidden");
  const both = await testPipeline([{ use: "flow", ask: [PAIR], deny: [PAIR] }]);
  await both.outcome(read);
  expect(await both.outcome({ ...call, uplink, origin })).toBe("forbidden");
  expect(await both.outcome({ more: { facts: undefined } })).toBe("forbidden");
});

test("a question of a layer is no read: the call that it is about is not barred by it", async () => {
  const layers = [
    { use: "flow", deny: [{ from: "*", to: "*" }] },
    { use: "ask", tools: ["*"] },
  ];
  const { outcome } = await testPipeline(layers);
  const call = callOf(read);
  const origin = { ...call.origin, capabilities: raw('{"elicitation":{}}') };
  const answering = (action: string) => ({
    notify: () => {},
    request: async () => raw(`{"action":"${action}"}`),
  });
  expect(await outcome({ ...call, origin, uplink: answering("decline") })).toBe("forbidden");
  expect(await outcome({ ...call, origin, uplink: answering("accept") })).toMatch(/done/);
  expect(await outcome({ ...call, origin, uplink: answering("accept") })).toBe("forbidden");
});

test("progress of a wait for an approval is no read", async () => {
  const approve = { use: "policy", default: "allow", rules: [{ effect: "approve" }] };
  const { call, waiting } = await testPipeline([{ use: "flow", deny: [{ from: "*", to: "*" }] }, approve]);
  const answer = call(read);
  waiting[0]?.call.uplink.notify("notifications/progress", raw("{}"));
  waiting[0]?.yes();
  expect(String(await answer)).toMatch(/done/);
});

test.each([
  [
    "created",
    (made: Call) =>
      made.task?.request?.created({ state: raw("{}"), meta: undefined, refresh: async () => {} }),
  ],
  ["changed", (made: Call) => made.task?.request?.changed(raw('{"statusMessage":"data"}'))],
  ["progress", (made: Call) => made.uplink.notify("notifications/progress", raw('{"message":"data"}'))],
  ["a log message", (made: Call) => made.uplink.notify("notifications/message", raw('{"data":"data"}'))],
  ["an updated resource", (made: Call) => made.uplink.notify("notifications/resources/updated", raw("{}"))],
  ["a message for several calls", (made: Call) => void made.aside?.("notifications/message", raw("{}"))],
  [
    "a question",
    (made: Call) => void made.uplink.request("elicitation/create", raw("{}"), made.signal).catch(() => {}),
  ],
  [
    "a request for a model",
    (made: Call) =>
      void made.uplink.request("sampling/createMessage", raw("{}"), made.signal).catch(() => {}),
  ],
])("%s counts as read while the call still runs", async (_what, tell) => {
  let running: (made: Call) => void = () => {};
  const reached = new Promise<Call>((resolve) => (running = resolve));
  const { call, outcome } = await testPipeline([apart()], (made) => {
    if (made.tool !== "customers") return Promise.resolve(raw(RESULT));
    running(made);
    return new Promise(() => {});
  });
  const taskRequest = { terms: raw("{}"), created() {}, declined() {}, changed() {} };
  void call(callOf({ ...read, more: { task: { support: "optional", request: taskRequest } } }));
  const made = await reached;
  expect(await outcome(send)).toMatch(/done/);
  tell(made);
  expect(await outcome(send)).toBe("forbidden");
});

test.each([
  "prompts/get",
  "resources/read",
  "resources/subscribe",
  "completion/complete",
  "a/method/of/tomorrow",
])("%s of a server counts as read", async (method) => {
  const { outcome } = await testPipeline([{ use: "flow", deny: [{ from: "one:*", to: "two:*" }] }]);
  const name = method.startsWith("a/") ? method : "";
  await outcome(callOf({ tool: `one:${name}`, more: { method } }));
  expect(await outcome({ tool: "two:send" })).toBe("forbidden");
});
