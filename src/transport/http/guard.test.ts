import { expect, test } from "vitest";
import { createGuard, isLoopback } from "./guard.ts";

const open = { host: "127.0.0.1", token: undefined, allowHosts: [], allowOrigins: [] };
const ask = (options: Partial<Parameters<typeof createGuard>[0]>, headers: Record<string, string>) =>
  createGuard({ ...open, ...options })(headers);

test.each([
  ["127.0.0.1:8080", true],
  ["localhost", true],
  ["[::1]:99", true],
  ["LOCALHOST:1", true],
  ["[::1]", true],
  ["[::1].evil.example", false],
  ["evil.example", false],
  ["127.0.0.1.evil.example", false],
  ["localhost.evil.example:8080", false],
  ["", false],
])("host %s: %s", (host, ok) => {
  expect(ask({}, { host })).toMatchObject(ok ? { ok } : { ok, status: 403 });
});

test("a listed host is served, with any port", () => {
  expect(ask({ allowHosts: ["mcp.example:443"] }, { host: "mcp.example" }).ok).toBe(true);
  expect(ask({ host: "::1" }, { host: "[::1]:8080" }).ok).toBe(true);
});

test.each([
  ["http://localhost:3000", true, undefined],
  ["https://evil.example", false, undefined],
  ["null", false, undefined],
  ["file://", false, undefined],
  ["https://app.example", true, "https://app.example"],
])("origin %s: %s", (origin, ok, cors) => {
  const verdict = ask({ allowOrigins: ["https://app.example/"] }, { host: "localhost", origin });
  expect(verdict).toMatchObject(ok ? { ok, cors } : { ok, status: 403 });
});

test.each([
  ["Bearer secret", true],
  ["bearer  secret", true],
  ["Bearer secre", false],
  ["Bearer secret2", false],
  ["Basic secret", false],
  [undefined, false],
])("token %s: %s", (authorization, ok) => {
  const headers = { host: "localhost", ...(authorization && { authorization }) };
  expect(ask({ token: "secret" }, headers)).toMatchObject(ok ? { ok } : { ok, status: 401 });
});

test("a listed page may read that its token is missing; others learn nothing", () => {
  const options = { token: "secret", allowOrigins: ["https://app.example"] };
  const verdict = (origin: string) => ask(options, { host: "localhost", origin });
  expect(verdict("https://app.example")).toMatchObject({ status: 401, cors: "https://app.example" });
  expect(verdict("http://localhost:3000")).toMatchObject({ status: 401, cors: undefined });
  expect(verdict("https://evil.example")).toMatchObject({ status: 403, cors: undefined });
});

test("loopback is what never leaves this machine", () => {
  expect(["127.0.0.1", "127.1.2.3", "localhost", "::1"].map(isLoopback)).toEqual([true, true, true, true]);
  expect(["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example", "localhost.example"].some(isLoopback)).toBe(
    false,
  );
});
