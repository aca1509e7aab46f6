/** How people log in and out, and attempts to get in without permission. */
import { expect, test } from "vitest";
import { useCheapPassword } from "../../support/cheap-password.ts";
import { apiClient, cookieIn, PASSWORD, person } from "../../support/people.ts";
import { testAdmin } from "../../support/test-control.ts";

const ADA = { email: "ada@example.org", password: PASSWORD };

/** A gateway without an admin token, and the code that creates its first administrator. */
async function withoutAdmin(more: { trustProxy?: string[] } = {}) {
  const admin = await testAdmin({}, { adminToken: null, ...more });
  const code = await admin.access.setup.begin();
  return { ...admin, code, ask: apiClient(admin.url) };
}

async function withAda(more: { trustProxy?: string[] } = {}) {
  const gateway = await withoutAdmin(more);
  const { body } = await gateway.ask("POST", "/setup", { code: gateway.code, ...ADA });
  const ada = body["id"] as unknown as string;
  // A test may make a hundred attempts.
  await useCheapPassword(gateway.store, gateway.access.accounts, { uuid: ada, password: PASSWORD });
  return { ...gateway, ada };
}

test("the setup code creates one administrator and works only once", async () => {
  const { ask, code, access, url } = await withoutAdmin();
  expect((await ask("POST", "/setup", { code: "wrong", ...ADA })).status).toBe(404);
  // The link can be checked before the form is filled.
  expect((await ask("GET", "/setup/wrong")).status).toBe(404);
  expect((await ask("GET", `/setup/${code}`)).body).toEqual({ valid: true });
  expect((await ask("POST", "/setup", { code, ...ADA, password: "too short" })).status).toBe(422);
  expect((await ask("POST", "/setup", { code, ...ADA, email: "nobody" })).status).toBe(422);
  const both = await Promise.all([
    ask("POST", "/setup", { code, ...ADA }),
    ask("POST", "/setup", { code, ...ADA, email: "eve@example.org" }),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
  const made = both.find(({ status }) => status === 200);
  expect(made?.body).toMatchObject({ kind: "account", role: "admin" });
  const me = apiClient(url, { cookie: cookieIn(made as never) });
  expect((await me("GET", "/settings")).status).toBe(200);
  expect((await ask("POST", "/setup", { code, ...ADA, email: "later@example.org" })).status).toBe(404);
  expect((await ask("GET", `/setup/${code}`)).status).toBe(404);
  expect(await access.setup.begin()).toBeUndefined();
});

test("a new password must not be easy to guess, however it is set", async () => {
  const { ask, code, url } = await withoutAdmin();
  const weak = async (method: string, path: string, body: object, from = ask) => {
    const { status, body: problem } = await from(method, path, body);
    return [status, (problem as { errors?: unknown }).errors];
  };
  const refused = [422, [{ path: "/password", message: expect.stringMatching(/^is too easy to guess: /) }]];
  expect(await weak("POST", "/setup", { code, ...ADA, password: "1234567890" })).toEqual(refused);
  const made = await ask("POST", "/setup", { code, ...ADA });
  const me = apiClient(url, { cookie: cookieIn(made), origin: url });
  const changed = { current: PASSWORD, password: "aaaaaaaaaaaa" };
  expect(await weak("PUT", "/me/password", changed, me)).toEqual(refused);
  const invited = await me("POST", "/users", { email: "bobby.tables@example.org", role: "member" });
  const { pathname } = new URL((invited.body["invitation"] as unknown as { url: string }).url);
  expect(await weak("POST", pathname, { password: "bobby.tables1" })).toEqual(refused);
  expect((await ask("POST", pathname, { password: PASSWORD })).status).toBe(200);
});

test("a new start creates a new setup code and invalidates the previous one", async () => {
  const { ask, code, access } = await withoutAdmin();
  const next = await access.setup.begin();
  expect((await ask("POST", "/setup", { code, ...ADA })).status).toBe(404);
  expect((await ask("POST", "/setup", { code: next, ...ADA })).status).toBe(200);
});

test("an invitation sets one password, works once, and logs the person in", async () => {
  const { ask, url } = await withAda();
  const ada = cookieIn(await ask("POST", "/login", ADA));
  const as = apiClient(url, { cookie: ada, origin: url });
  const invited = await as("POST", "/users", { email: "bob@example.org", role: "editor", groups: ["ops"] });
  expect(invited.status).toBe(201);
  expect(invited.body).toMatchObject({
    email: "bob@example.org",
    role: "editor",
    groups: ["ops"],
    invited: true,
  });
  const { invitation, uuid } = invited.body as unknown as { invitation: { url: string }; uuid: string };
  const code = invitation.url.split("/").at(-1);
  expect((await as("POST", "/users", { email: "BOB@example.org", role: "viewer" })).status).toBe(409);
  expect((await ask("POST", "/login", { email: "bob@example.org", password: "" })).status).toBe(401);
  expect((await ask("GET", `/invitations/${code}`)).body).toMatchObject({ email: "bob@example.org" });
  expect((await ask("GET", "/invitations/other")).status).toBe(404);
  expect((await ask("POST", `/invitations/${code}`, { password: "short" })).status).toBe(422);
  const both = await Promise.all(
    [1, 2].map(() => ask("POST", `/invitations/${code}`, { password: PASSWORD })),
  );
  expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
  const bob = apiClient(url, {
    cookie: cookieIn(both.find(({ status }) => status === 200) as never),
    origin: url,
  });
  expect((await bob("GET", "/me")).body).toMatchObject({ id: uuid, role: "editor", groups: ["ops"] });
  const again = await as("POST", `/users/${uuid}/invitation`);
  const reset = (again.body["url"] as unknown as string).split("/").at(-1);
  await as("POST", `/users/${uuid}/invitation`);
  expect((await ask("POST", `/invitations/${reset}`, { password: PASSWORD })).status).toBe(404);
});

test("a login creates a new cookie, and a logout invalidates it", async () => {
  const { ask, url } = await withAda();
  const foreignCookie = `metamcp=${"A".repeat(43)}`;
  const login = await ask("POST", "/login", ADA, { cookie: foreignCookie });
  expect(login.status).toBe(200);
  const cookie = cookieIn(login);
  expect(cookie).not.toBe(foreignCookie);
  expect(login.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Lax/);
  expect((await ask("GET", "/me", undefined, { cookie: foreignCookie })).status).toBe(401);
  expect((await ask("GET", "/me", undefined, { cookie })).status).toBe(200);
  const out = await ask("POST", "/logout", undefined, { cookie, origin: url });
  expect(out.status).toBe(204);
  expect(out.headers.get("set-cookie")).toMatch(/Max-Age=0/);
  expect((await ask("GET", "/me", undefined, { cookie })).status).toBe(401);
});

test("another origin can neither log in nor act with the cookie of a logged-in user", async () => {
  const { ask, url } = await withAda();
  const cookie = cookieIn(await ask("POST", "/login", ADA));
  const port = new URL(url).port;
  const foreign = [
    "http://evil.test",
    "null",
    `http://127.0.0.1:${Number(port) ^ 1}`,
    `http://127.0.0.1:${port}.evil.test`,
  ];
  for (const origin of foreign) {
    expect((await ask("POST", "/login", ADA, { origin })).status).toBe(403);
    expect((await ask("POST", "/namespaces", { name: "x" }, { cookie, origin })).status).toBe(403);
  }
  expect((await ask("POST", "/namespaces", { name: "x" }, { cookie })).status).toBe(403);
  expect((await ask("POST", "/logout", undefined, { cookie })).status).toBe(403);
  expect((await ask("POST", "/namespaces", { name: "x" }, { cookie, origin: url })).status).toBe(201);
  const form = { cookie, origin: url, "content-type": "application/x-www-form-urlencoded" };
  expect((await ask("POST", "/login", ADA, form)).status).toBe(415);
});

test("login attempts are limited per account, for existing and unknown accounts", async () => {
  const { ask } = await withAda();
  const wrong = { ...ADA, password: "wrong password" };
  for (let at = 0; at < 10; at += 1) expect((await ask("POST", "/login", wrong)).status).toBe(401);
  const stopped = await ask("POST", "/login", ADA);
  expect(stopped.status).toBe(429);
  expect(Number(stopped.headers.get("retry-after"))).toBeGreaterThan(0);
  const unknown = { email: "nobody@example.org", password: "wrong password" };
  const answers = [];
  for (let at = 0; at < 11; at += 1) answers.push((await ask("POST", "/login", unknown)).status);
  expect(answers).toEqual([...Array<number>(10).fill(401), 429]);
});

test("login attempts from many addresses are limited, and forwarding headers count only from trusted proxies", async () => {
  const wrong = { ...ADA, password: "wrong password" };
  const from = (at: number) => ({ "x-forwarded-for": `198.51.100.${at}` });
  const proxied = await withAda({ trustProxy: ["127.0.0.0/8", "::1"] });
  const statuses = await Promise.all(
    Array.from({ length: 104 }, (_, at) =>
      proxied.ask("POST", "/login", wrong, from(at)).then(({ status }) => status),
    ),
  );
  expect(statuses.sort()).toEqual([...Array<number>(100).fill(401), ...Array<number>(4).fill(429)]);
  expect((await proxied.ask("POST", "/login", ADA, from(251))).status).toBe(429);
  const direct = await withAda();
  for (let at = 0; at < 10; at += 1) await direct.ask("POST", "/login", wrong, from(at));
  expect((await direct.ask("POST", "/login", ADA, from(99))).status).toBe(429);
});

test("a failed login does not reveal whether the account or the password was wrong", async () => {
  const { ask } = await withAda();
  const [one, other] = [
    await ask("POST", "/login", { ...ADA, password: "wrong password" }),
    await ask("POST", "/login", { email: "nobody@example.org", password: PASSWORD }),
  ];
  expect(one.body).toEqual(other.body);
  expect([one.status, other.status]).toEqual([401, 401]);
});

test("two different credentials, or an invalid one beside a valid cookie, are rejected", async () => {
  const admin = await testAdmin();
  const { cookie } = await person(admin, "admin");
  const key = async (role: string) =>
    (await admin.ask("POST", "/api-keys", { name: role, role })).body["key"] ?? "";
  const [viewer, other] = [await key("viewer"), await key("admin")];
  const ask = apiClient(admin.url);
  expect(
    (await ask("GET", "/me", undefined, { authorization: `Bearer ${viewer}`, "x-api-key": viewer })).status,
  ).toBe(200);
  expect(
    (await ask("GET", "/me", undefined, { authorization: `Bearer ${viewer}`, "x-api-key": other })).status,
  ).toBe(401);
  expect((await ask("GET", "/me", undefined, { "x-api-key": `${viewer}, ${other}` })).status).toBe(401);
  expect((await ask("GET", "/me", undefined, { cookie, authorization: "Bearer wrong" })).status).toBe(401);
  expect((await ask("GET", "/me", undefined, { cookie, authorization: "Basic wrong" })).status).toBe(401);
  for (const header of ["x-http-method-override", "x-method-override", "x-forwarded-user", "x-original-url"])
    expect((await ask("GET", "/me", undefined, { [header]: "DELETE" })).status).toBe(401);
});

test("the last administrator cannot be removed, and a password change ends every other login", async () => {
  const { ask, url, ada } = await withAda();
  const [first, second] = [
    cookieIn(await ask("POST", "/login", ADA)),
    cookieIn(await ask("POST", "/login", ADA)),
  ];
  const as = apiClient(url, { cookie: first, origin: url });
  for (const [method, body] of [
    ["DELETE"],
    ["PATCH", { role: "viewer" }],
    ["PATCH", { disabled: true }],
  ] as const)
    expect((await as(method, `/users/${ada}`, body)).status).toBe(409);
  const changed = { current: PASSWORD, password: "another password" };
  expect((await as("PUT", "/me/password", { ...changed, current: "wrong one here" })).status).toBe(403);
  const done = await as("PUT", "/me/password", changed);
  expect(done.status).toBe(200);
  for (const cookie of [first, second])
    expect((await ask("GET", "/me", undefined, { cookie })).status).toBe(401);
  expect((await ask("GET", "/me", undefined, { cookie: cookieIn(done) })).status).toBe(200);
  expect((await ask("POST", "/login", ADA)).status).toBe(401);
});

test("personal secrets are listed by name only and only to their owner", async () => {
  const admin = await testAdmin();
  const [ada, bob] = [
    await person(admin, "member", "ada@example.org"),
    await person(admin, "admin", "bob@example.org"),
  ];
  expect((await ada.ask("PUT", "/me/secrets/GITHUB", { value: "canary-secret" })).status).toBe(204);
  for (const value of ["", "two\nlines", "x".repeat(9_000)])
    expect((await ada.ask("PUT", "/me/secrets/GITHUB", { value })).status).toBe(422);
  expect((await ada.ask("PUT", "/me/secrets/not%20a%20name", { value: "x" })).status).toBe(422);
  expect((await ada.ask("GET", "/me/secrets")).body["items"]).toMatchObject([{ name: "GITHUB" }]);
  expect((await bob.ask("GET", "/me/secrets")).body["items"]).toEqual([]);
  expect((await bob.ask("DELETE", "/me/secrets/GITHUB")).status).toBe(404);
  expect(admin.access.secrets.open(ada.uuid, "GITHUB")).toBe("canary-secret");
  expect((await ada.ask("DELETE", "/me/secrets/GITHUB")).status).toBe(204);
  expect(admin.access.secrets.open(ada.uuid, "GITHUB")).toBeUndefined();
});
