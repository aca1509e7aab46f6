import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { silentLog } from "../kernel/log.ts";
import { Problem } from "./problem.ts";
import { type Route, route } from "./route.ts";
import { createAdminRouter } from "./router.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/things/:name",
    summary: "",
    tag: "things",
    role: "viewer",
    query: {
      limit: { type: "integer" },
      how: { enum: ["ok", "refused"] },
      from: { type: "string", format: "date-time" },
    },
    handle: ({ params, query }) => ({ body: { name: params.name, limit: query.limit } }),
  }),
  {
    method: "PATCH",
    path: "/things/:name",
    summary: "",
    tag: "things",
    role: "admin",
    handle: ({ body }) => ({ body: { got: body } }),
  },
  { method: "DELETE", path: "/things/:name", summary: "", tag: "things", role: "admin", handle: () => ({}) },
  {
    method: "POST",
    path: "/broken",
    summary: "",
    tag: "things",
    role: "member",
    handle: () => {
      throw new Error("a secret detail");
    },
  },
];

/** Starts a server in which the bearer token is the role of the caller. */
async function start(): Promise<(path: string, init?: RequestInit & { role?: string }) => Promise<Response>> {
  const answer = createAdminRouter({
    routes: ROUTES,
    log: silentLog,
    authenticate({ headers: { authorization } }) {
      const role = authorization?.replace("Bearer ", "");
      return role ? { principal: { id: role, kind: "token", roles: [role], groups: [] } } : undefined;
    },
    isOwnPage: () => false,
    addressOf: () => "127.0.0.1",
    problemOf: () => undefined,
  });
  const server = createServer((request, response) => {
    void answer(new URL(request.url ?? "/", "http://x").pathname, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return async (path, { role = "admin", headers, ...init } = {}) =>
    await fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      headers: { ...(role && { authorization: `Bearer ${role}` }), ...headers },
    });
}

const json = { "content-type": "application/json" };

test("a route gets its decoded path parameters and its query", async () => {
  const ask = await start();
  const answer = await ask("/things/a%2Fb?limit=3");
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ name: "a/b", limit: 3 });
});

test("an unknown query parameter returns 400", async () => {
  const ask = await start();
  const answer = await ask("/things/a?dryrun=true");
  expect(answer.status).toBe(400);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(await answer.json()).toMatchObject({
    status: 400,
    detail: 'unknown query parameter "dryrun"; known: limit, how, from',
  });
});

test.each([
  ["how=ok", 200],
  ["how=okay", 400],
  ["how=", 400],
  ["from=2030-01-31T12:00:00Z", 200],
  ["from=2030-01-31T12:00:00.123%2B05:30", 200],
  ["from=2030-01-31", 200],
  ["from=2030-01-31T12:00:00", 400],
  ["from=2030-13-31", 400],
  ["from=1", 400],
])("a query parameter is validated: %s returns %i", async (query, status) => {
  const ask = await start();
  expect((await ask(`/things/a?${query}`)).status).toBe(status);
});

test("callers without a credential get 401 at every path, and callers without the needed role get 403", async () => {
  const ask = await start();
  for (const path of ["/things/a", "/nothing"]) expect((await ask(path, { role: "" })).status).toBe(401);
  expect((await ask("/things/a", { method: "DELETE", role: "viewer" })).status).toBe(403);
  expect((await ask("/things/a", { role: "member" })).status).toBe(403);
  expect((await ask("/things/a", { role: "editor" })).status).toBe(200);
});

test("an unknown path returns 404, and an unknown method of a known path 405 with Allow", async () => {
  const ask = await start();
  expect((await ask("/nothing")).status).toBe(404);
  const answer = await ask("/things/a", { method: "PUT", body: "{}", headers: json });
  expect(answer.status).toBe(405);
  expect(answer.headers.get("allow")).toBe("GET, PATCH, DELETE");
});

test.each([
  ["invalid JSON", "{", json, 400],
  ["of another content type", "a=1", { "content-type": "text/plain" }, 415],
  ["without a content type", "{}", { "content-type": "" }, 415],
  ["too large", JSON.stringify("x".repeat(4 * 1024 * 1024)), json, 413],
  ["too deep", `${"[".repeat(70)}${"]".repeat(70)}`, json, 400],
  ["not UTF-8", Buffer.from([0x22, 0xff, 0x22]), json, 400],
])("a body that is %s is refused", async (_, body, headers, status) => {
  const ask = await start();
  const answer = await ask("/things/a", { method: "PATCH", body, headers });
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({ status, type: "about:blank" });
});

test("an unexpected error returns 500 without details", async () => {
  const ask = await start();
  const answer = await ask("/broken", { method: "POST" });
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toContain("secret detail");
});

test("a problem contains its additional members", () => {
  const problem = new Problem(412, "it changed", { more: { current: { a: 1 } } });
  expect(JSON.parse(JSON.stringify(problem))).toEqual({
    type: "about:blank",
    title: "Changed by somebody else",
    status: 412,
    detail: "it changed",
    current: { a: 1 },
  });
});
