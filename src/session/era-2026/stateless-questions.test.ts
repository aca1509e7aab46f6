import { expect, test } from "vitest";
import { LOCAL_USER } from "../../kernel/principal.ts";
import { fromRaw, toRaw } from "../../kernel/raw.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { ask, Fixture, QUESTION, turn } from "./stateless-clients.fixture.ts";

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
  const other = requestState[20] === "A" ? "B" : "A";
  const changed = `${requestState.slice(0, 20)}${other}${requestState.slice(21)}`;
  expect(refused({ requestState: changed })).toContain("belongs to another request");
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

test("when more than 256 calls are parked, the oldest of the principal with most is cancelled", async () => {
  const fixture = new Fixture();
  fixture.call({}, { from: { principal: { ...LOCAL_USER, id: "other" } } });
  void ask(fixture.current);
  for (let n = 0; n < 256; n++) {
    fixture.call();
    void ask(fixture.current);
  }
  await turn();
  const aborted = fixture.calls.map(({ request }) => request.signal.aborted);
  expect(aborted.filter(Boolean)).toHaveLength(1);
  expect(aborted[1]).toBe(true);
});

test("calls of a principal end together: parked, about to ask, and running; those of others go on", async () => {
  const fixture = new Fixture();
  const other = { ...LOCAL_USER, id: "other" };
  fixture.call({}, { from: { principal: other } });
  fixture.call();
  void ask(fixture.current);
  await turn();
  fixture.call();
  fixture.call();
  void ask(fixture.current);
  fixture.era2026.endOf(({ id }) => id === LOCAL_USER.id, "no right");
  await turn();
  const reasons = fixture.calls.map(
    ({ request: { signal } }) => (signal.reason as Error | undefined)?.message,
  );
  expect(reasons).toEqual([undefined, "no right", "no right", "no right"]);
  expect([fixture.ended.length, fixture.era2026.serving, fixture.clock.pending]).toEqual([3, 1, 0]);
});
