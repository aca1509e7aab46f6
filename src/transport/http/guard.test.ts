import { expect, test } from "vitest";
import { createGuard, isLoopback } from "./guard.ts";

const open = { host: "127.0.0.1", token: undefined, allowHosts: [], allowOrigins: [] };
const ask = (options: Partial<Parameters<typeof createGuard>[0]>, headers: Record<string, string>) =>
  createGuard({ ...open, ...options })({ headers, socket: { localPort: 8080, remoteAddress: "192.0.2.1" } });

test.each([
  ["127.0.0.1:8080", true],
  ["LOCALHOST:8080", true],
  ["[::1]:8080", true],
  ["localhost", false],
  ["localhost:", false],
  ["localhost:8081", false],
  ["[::1]", false],
  ["[::1]:99", false],
  ["[::1].evil.example:8080", false],
  ["evil.example", false],
  ["127.0.0.1.evil.example", false],
  ["localhost.evil.example:8080", false],
  ["", false],
])("Host %s is allowed: %s", (host, ok) => {
  expect(ask({}, { host })).toMatchObject(ok ? { ok } : { ok, status: 403 });
});

test.each([
  ["mcp.example", "mcp.example", true],
  ["mcp.example", "MCP.example:9000", true],
  ["mcp.example:9000", "mcp.example:9000", true],
  ["mcp.example:9000", "mcp.example:9001", false],
  ["mcp.example:9000", "mcp.example", false],
  ["mcp.example:443", "mcp.example", true],
  ["localhost", "localhost:3000", true],
  ["2001:db8::1", "[2001:db8::1]:3000", true],
  ["mcp.example", "", false],
])("with --allow-host %s, Host %s is allowed: %s", (listed, host, ok) => {
  expect(ask({ allowHosts: [listed] }, { host }).ok).toBe(ok);
});

test("the address it listens on is allowed with its own port", () => {
  expect(ask({ host: "::1" }, { host: "[::1]:8080" }).ok).toBe(true);
  expect(ask({ host: "10.0.0.1" }, { host: "10.0.0.1:8080" }).ok).toBe(true);
  expect(ask({ host: "10.0.0.1" }, { host: "10.0.0.1:8081" }).ok).toBe(false);
});

test("a Host without a port means the default port", () => {
  const at = (localPort: number) =>
    createGuard(open)({ headers: { host: "localhost" }, socket: { localPort, remoteAddress: "192.0.2.1" } })
      .ok;
  expect([at(80), at(443), at(8080)]).toEqual([true, true, false]);
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
  const headers = { host: "localhost:8080", ...(authorization && { authorization }) };
  expect(ask({ token: "secret" }, headers)).toMatchObject(ok ? { ok } : { ok, status: 401 });
});

test("only a listed origin gets CORS headers with a 401", () => {
  const options = { token: "secret", allowOrigins: ["https://app.example"] };
  const verdict = (origin: string) => ask(options, { host: "localhost:8080", origin });
  expect(verdict("https://app.example")).toMatchObject({ status: 401, cors: "https://app.example" });
  expect(verdict("http://localhost:8080")).toMatchObject({ status: 401, cors: undefined });
  expect(verdict("http://localhost:3000")).toMatchObject({ status: 403, cors: undefined });
  expect(verdict("https://evil.example")).toMatchObject({ status: 403, cors: undefined });
});

test("the default port of a scheme may be omitted in Origin", () => {
  const asked = (host: string, origin: string) => ask({ allowHosts: ["localhost"] }, { host, origin }).ok;
  expect(asked("localhost:80", "http://localhost")).toBe(true);
  expect(asked("localhost:443", "https://localhost")).toBe(true);
  expect(asked("localhost:443", "http://localhost")).toBe(false);
});

test("isLoopback accepts only addresses of this machine's loopback interface", () => {
  expect(["127.0.0.1", "127.1.2.3", "localhost", "::1"].map(isLoopback)).toEqual([true, true, true, true]);
  expect(["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example", "localhost.example"].some(isLoopback)).toBe(
    false,
  );
});

test("all clients with the token are one principal; unchecked credentials make distinct anonymous principals", () => {
  const who = (token: string | undefined, authorization?: string) => {
    const verdict = ask({ token }, { host: "localhost:8080", ...(authorization && { authorization }) });
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
