import { expect, test } from "vitest";
import { asRaw, fromRaw, toRaw } from "../../kernel/raw.ts";
import type { Message } from "../../rpc/message.ts";
import { bareParams, claimsEra2026, readEnvelope, readRetry } from "./envelope.ts";

const KEY = "io.modelcontextprotocol/";
const META = { [`${KEY}protocolVersion`]: "2026-07-28", [`${KEY}clientCapabilities`]: { roots: {} } };
const request = (params: unknown, method = "tools/list"): Message => ({
  kind: "request",
  id: toRaw(1),
  method,
  params: params === undefined ? undefined : toRaw(params),
});

test("claimsEra2026 recognises a message by its envelope, also an invalid or escaped one", () => {
  expect(claimsEra2026(request({ _meta: META }))).toBe(true);
  expect(claimsEra2026(request({ _meta: { [`${KEY}protocolVersion`]: 3 } }))).toBe(true);
  const escaped = asRaw(Buffer.from('{"_meta":{"io.modelcontextprotocol\\/protocolVersion":"x"}}'));
  expect(claimsEra2026({ kind: "notification", method: "n", params: escaped })).toBe(true);
  expect(claimsEra2026(request(undefined, "server/discover"))).toBe(true);

  expect(claimsEra2026(request(undefined))).toBe(false);
  expect(claimsEra2026(request({ _meta: { progressToken: 1 } }))).toBe(false);
  expect(claimsEra2026(request({ arguments: META }))).toBe(false);
  expect(claimsEra2026({ kind: "result", id: toRaw(1), result: toRaw({ _meta: META }) })).toBe(false);
});

test("readEnvelope returns version, capabilities, log level and progress token", () => {
  const envelope = readEnvelope(
    toRaw({ _meta: { ...META, [`${KEY}logLevel`]: "info", progressToken: "p" } }),
  );
  expect({ ...envelope, capabilities: fromRaw(envelope.capabilities) }).toEqual({
    version: "2026-07-28",
    capabilities: { roots: {} },
    logLevel: "info",
    progressToken: toRaw("p"),
  });
});

test.each([
  undefined,
  [],
  {},
  { _meta: 1 },
  { _meta: { [`${KEY}protocolVersion`]: "2026-07-28" } },
  { _meta: { [`${KEY}clientCapabilities`]: {} } },
  { _meta: { ...META, [`${KEY}protocolVersion`]: 20260728 } },
  { _meta: { ...META, [`${KEY}clientCapabilities`]: "all" } },
  { _meta: { ...META, [`${KEY}logLevel`]: 7 } },
])("readEnvelope refuses %j", (params) => {
  expect(() => readEnvelope(params === undefined ? undefined : toRaw(params))).toThrow(
    expect.objectContaining({ code: -32602 }),
  );
});

test("bareParams removes the members of this era and keeps the rest byte for byte", () => {
  const written = `{"name":"x","n":12345678901234567890,"_meta":${JSON.stringify({ ...META, traceparent: "t", [`${KEY}logLevel`]: "info" })},"inputResponses":{},"requestState":"s"}`;
  expect(bareParams(asRaw(Buffer.from(written))).toString()).toBe(
    `{"name":"x","n":12345678901234567890,"_meta":{"traceparent":"t","${KEY}logLevel":"info"}}`,
  );
  expect(bareParams(toRaw({ _meta: META })).toString()).toBe("{}");
});

test("readRetry ignores answers that are not objects and refuses members of the wrong type", () => {
  const { state, answers } = readRetry(
    toRaw({ requestState: "s", inputResponses: { a: { action: "accept" }, b: 12345, c: null } }),
  );
  expect(state).toBe("s");
  expect([...answers.keys()]).toEqual(["a"]);
  expect(readRetry(toRaw({}))).toEqual({ state: undefined, answers: new Map() });
  expect(() => readRetry(toRaw({ requestState: 1 }))).toThrow("requestState");
  expect(() => readRetry(toRaw({ inputResponses: null }))).toThrow("inputResponses");
});
