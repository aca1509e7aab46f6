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
])("Host %s is allowed: %s", (host, ok) => {
  expect(ask({}, { host })).toMatchObject(ok ? { ok } : { ok, status: 403 });
});

test("a listed Host is allowed with any port", () => {
  expect(ask({ allowHosts: ["mcp.example:443"] }, { host: "mcp.example" }).ok).toBe(true);
  expect(ask({ host: "::1" }, { host: "[::1]:8080" }).ok).toBe(true);
});

test.each([
  ["http://localhost:8080", true, undefined],
  ["HTTP://LOCALHOST:8080", true, undefined],
  ["http://localhost:3000", false, undefined],
  ["http://localhost", false, undefined],
  ["http://127.0.0.1:8080", false, undefined],
  ["https://evil.example", false, undefined],
  ["null", false, undefined],
  ["file://", false, undefined],
  ["https://app.example", true, "https://app.example"],
])("Origin %s is allowed: %s", (origin, ok, cors) => {
  const verdict = ask({ allowOrigins: ["https://app.example/"] }, { host: "localhost:8080", origin });
  expect(verdict).toMatchObject(ok ? { ok, cors } : { ok, status: 403 });
});

test.each([
  ["Bearer secret", true],
  ["bearer  secret", true],
  ["Bearer secre", false],
  ["Bearer secret2", false],
  ["Basic secret", false],
  [undefined, false],
])("Authorization %s is accepted: %s", (authorization, ok) => {
  const headers = { host: "localhost", ...(authorization && { authorization }) };
  expect(ask({ token: "secret" }, headers)).toMatchObject(ok ? { ok } : { ok, status: 401 });
});

test("only a listed origin gets CORS headers with a 401", () => {
  const options = { token: "secret", allowOrigins: ["https://app.example"] };
  const verdict = (origin: string) => ask(options, { host: "localhost", origin });
  expect(verdict("https://app.example")).toMatchObject({ status: 401, cors: "https://app.example" });
  expect(verdict("http://localhost")).toMatchObject({ status: 401, cors: undefined });
  expect(verdict("http://localhost:3000")).toMatchObject({ status: 403, cors: undefined });
  expect(verdict("https://evil.example")).toMatchObject({ status: 403, cors: undefined });
});

test("the default port of a scheme may be omitted in Origin", () => {
  expect(ask({}, { host: "localhost:80", origin: "http://localhost" }).ok).toBe(true);
  expect(ask({}, { host: "localhost:443", origin: "https://localhost" }).ok).toBe(true);
  expect(ask({}, { host: "localhost:443", origin: "http://localhost" }).ok).toBe(false);
});

test("isLoopback accepts only addresses of this machine's loopback interface", () => {
  expect(["127.0.0.1", "127.1.2.3", "localhost", "::1"].map(isLoopback)).toEqual([true, true, true, true]);
  expect(["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example", "localhost.example"].some(isLoopback)).toBe(
    false,
  );
});

test("all clients with the token are one principal; unchecked credentials make distinct anonymous principals", () => {
  const who = (token: string | undefined, authorization?: string) => {
    const verdict = ask({ token }, { host: "localhost", ...(authorization && { authorization }) });
    return verdict.ok ? verdict.principal : undefined;
  };
  expect(who("secret", "Bearer secret")).toMatchObject({ kind: "token" });
  expect(who("secret", "Bearer secret")?.id).not.toContain("secret");
  expect(who("secret", "Bearer wrong")).toBeUndefined();
  expect(who(undefined)).toMatchObject({ kind: "anonymous", id: "anonymous" });
  const [one, two] = [who(undefined, "Bearer one"), who(undefined, "Bearer two")];
  expect([one?.kind, two?.kind]).toEqual(["anonymous", "anonymous"]);
  expect(one?.id).not.toBe(two?.id);
  expect(one?.id).toBe(who(undefined, "Bearer one")?.id);
});
