import { expect, test } from "vitest";
import type { Call, Uplink } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Raw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { callOf, newTrail, RESULT, raw, type TestCall, testPipeline } from "../layer.fixture.ts";
import type { ReadStore } from "../read-log.ts";

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

test("an answer to a question of a server is withheld if data was read since its call began", async () => {
  const origin = { ...callOf().origin, capabilities: raw('{"sampling":{}}') };
  let answer = (): void => {};
  const uplink: Uplink = {
    notify: () => {},
    request: () => new Promise((resolve) => (answer = () => resolve(raw('{"text":"Ada"}')))),
  };
  const asking = async ({ tool, uplink: up }: Call): Promise<Raw> =>
    tool === "post" ? await up.request("sampling/createMessage", undefined, new CallSignal()) : raw(RESULT);
  const sent = { ...callOf(send), origin, uplink };
  const settled = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));
  for (const [rules, barred] of [
    [{ deny: [PAIR] }, true],
    [{ ask: [PAIR] }, true],
    [{ deny: [{ from: "*", to: "web:*" }] }, true],
    [{ deny: [{ from: "mail:*", to: "web:*" }] }, false],
  ] as const) {
    const { outcome, call } = await testPipeline([{ use: "flow", ...rules }], asking);
    const early = call({ more: sent });
    await settled();
    expect(await outcome({ ...read, more: { origin } })).toMatch(/done/);
    answer();
    if (barred) await expect(early).rejects.toThrow("the answer is not passed on");
    else expect(String(await early)).toContain("Ada");
  }
  const { call } = await testPipeline([{ use: "flow", deny: [{ from: "*", to: "*" }] }], asking);
  const alone = call({ more: sent });
  await settled();
  answer();
  expect(String(await alone), "its own question is no reason").toContain("Ada");
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

/** A store whose notes a test confirms or refuses. */
function slowReads() {
  const noted = new Map<string, string>();
  const waiting: { readonly yes: () => void; readonly no: () => void }[] = [];
  const store: ReadStore = {
    up: true,
    note: (_caller, rules, { what }) =>
      new Promise((resolve, reject) => {
        const yes = (): void => {
          for (const rule of rules) noted.set(rule, what);
          resolve();
        };
        waiting.push({ yes, no: () => reject(new Error("away")) });
      }),
    of: async () => noted,
  };
  return { store, waiting };
}

const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("nothing of a read leaves before the store has it, and messages keep their order", async () => {
  const { store, waiting } = slowReads();
  const heard: string[] = [];
  const uplink: Uplink = {
    notify: (method) => void heard.push(method),
    request: async (method) => {
      heard.push(method);
      return raw("{}");
    },
  };
  const taskRequest = {
    terms: raw("{}"),
    created: () => void heard.push("created"),
    declined() {},
    changed: () => void heard.push("changed"),
  };
  const answer = async (made: Call): Promise<Raw> => {
    made.uplink.notify("first", undefined);
    made.task?.request?.created({ state: raw("{}"), meta: undefined, refresh: async () => {} });
    made.task?.request?.changed(raw("{}"));
    made.uplink.notify("second", undefined);
    void Promise.resolve(made.aside?.("aside", raw("{}"))).then(() => heard.push("aside"));
    await made.uplink.request("question", undefined, made.signal);
    return raw(RESULT);
  };
  const { call } = await testPipeline([apart()], answer, store);
  const running = call({
    ...read,
    more: { uplink, task: { support: "optional", request: taskRequest } },
  }).then(() => heard.push("result"));
  await turns();
  expect(heard).toEqual([]);
  expect(waiting, "one statement for all").toHaveLength(1);
  waiting[0]?.yes();
  await running;
  expect(heard.filter((what) => !["aside", "question"].includes(what))).toEqual([
    "first",
    "created",
    "changed",
    "second",
    "result",
  ]);
  expect(heard).toContain("aside");
});

test("what cannot be noted is withheld, and the error says that the call may have run", async () => {
  const { store, waiting } = slowReads();
  const heard: string[] = [];
  const uplink: Uplink = { ...callOf().uplink, notify: (method) => void heard.push(method) };
  const { call } = await testPipeline(
    [apart()],
    async (made) => {
      made.uplink.notify("notifications/message", raw("{}"));
      await made.aside?.("notifications/message", raw("{}"));
      return raw(RESULT);
    },
    store,
  );
  const running = call({ ...read, more: { uplink } });
  const ended = expect(running).rejects.toMatchObject({
    code: "server_unavailable",
    message: expect.stringMatching(/withheld\. The call may have run: check its effects/),
    context: { retryable: false },
  });
  for (let n = 0; n < 3; n++) {
    await turns();
    waiting.shift()?.no();
  }
  await ended;
  expect(heard).toEqual([]);
});

test("further reads need no statement for a tenth of the time, and renew the note after that", async () => {
  const { store, waiting } = slowReads();
  const { outcome, clock } = await testPipeline([apart({ forMs: 1_000 })], undefined, store);
  const reading = outcome(read);
  await turns();
  waiting[0]?.yes();
  await reading;
  clock.advance(99);
  expect(await outcome(read)).toMatch(/done/);
  expect(waiting).toHaveLength(1);
  clock.advance(1);
  void outcome(read);
  await turns();
  expect(waiting).toHaveLength(2);
});

test("rules are known by what they name, so that a restart or another list keeps what was read", async () => {
  const { store, waiting } = slowReads();
  const one = await testPipeline([apart()], undefined, store);
  const reading = one.outcome(read);
  await turns();
  waiting[0]?.yes();
  await reading;
  const changed = {
    use: "flow",
    deny: [{ from: "x:*", to: "y:*" }],
    ask: [{ from: "crm:*", to: "web:post" }],
  };
  const two = await testPipeline([changed], undefined, store);
  expect(await two.outcome(send)).toBe("forbidden");
  const other = await testPipeline(
    [{ use: "flow", deny: [{ from: "erp:*", to: "web:*" }] }],
    undefined,
    store,
  );
  expect(await other.outcome(send)).toMatch(/done/);
});
