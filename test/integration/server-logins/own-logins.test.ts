/** Each account has its own login at a server: two people have two lists, and neither sees the other's. */

import { expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { Browser } from "../../support/browser.ts";
import { apiClient } from "../../support/people.ts";
import { ADMIN_TOKEN, teamClient, WAYS } from "../../support/team-gateway.ts";
import { until } from "../../support/until.ts";
import { completeLogin, userLoginPerson, userLoginTeam } from "../../support/user-login-team.ts";

test("without a login an account sees only where to log in, on every surface", async () => {
  const { gateway, api, uuid, ada } = await userLoginTeam();
  const page = `${gateway.url}/oauth/logins/${uuid}?for=${ada.uuid}`;
  for (const way of WAYS) {
    const all = await teamClient(gateway, "all", { key: ada.key, way });
    expect(await all.tools()).toEqual([]);
    expect(await all.call("mail__inbox")).toContain(page);
    const main = await teamClient(gateway, "main", { key: ada.key, way });
    const [found] = JSON.parse(await main.call("mcp_discover")).servers;
    expect(found).toMatchObject({ name: "mail", state: "failed", connected: false, toolCount: 0 });
    expect(found.reason).toContain(page);
    expect(await main.call("mcp_call", { server: "mail", tool: "inbox" })).toMatch(/^auth_required/);
    const tools = await teamClient(gateway, "tools", { key: ada.key, way });
    const listed = JSON.parse(await tools.call("list_tools"));
    expect(listed.tools).toEqual([]);
    expect(listed.unavailable[0].reason).toContain(page);
  }
  expect((await ada.ask("GET", "/me/logins")).body["items"]).toEqual([
    { server: uuid, name: "mail", needs: "login", ready: false, login: { state: "none" }, page },
  ]);
  // Keys without an owner and administrators who act for others have no account to log in with.
  const nobodys = await teamClient(gateway, "main", { key: await gateway.key() });
  expect(await nobodys.call("mcp_call", { server: "mail", tool: "inbox" })).toMatch(
    /^auth_required: mail requires an account/,
  );
  const status = (await api("GET", `/mcp-servers/${uuid}`)).body.status;
  expect(status).toMatchObject({ state: "idle", connected: false });
});

test("two people have two lists, each calls with their own login, and neither sees the other's tools", async () => {
  const { gateway, mail, by, uuid, ada, bob } = await userLoginTeam();
  expect((await ada.logIn()).text).toContain("Logged in");
  await bob.logIn();
  const seen = async (key: string) => {
    const all = await teamClient(gateway, "all", { key });
    const main = await teamClient(gateway, "main", { key });
    const tools = await teamClient(gateway, "tools", { key });
    return {
      names: (await all.tools()).toSorted(),
      called: await all.call("mail__inbox"),
      discovered: await main.call("mcp_discover", { query: "folder that a user alone has" }),
      searched: await tools.call("search_tools", { query: "mail folder" }),
      code: await main.call("mcp_execute", { code: 'return (await search("folder")).length' }),
      others: await main.call("mcp_call", {
        server: "mail",
        tool: key === ada.key ? "folder_1" : "folder_0",
      }),
    };
  };
  const [a, b] = [await seen(ada.key), await seen(bob.key)];
  expect(a.names).toEqual(["mail__folder_0", "mail__inbox"]);
  expect(b.names).toEqual(["mail__folder_1", "mail__inbox"]);
  expect([a.called, b.called]).toEqual(["inbox by user 0", "inbox by user 1"]);
  expect(JSON.stringify([a.discovered, a.searched])).toContain("folder_0");
  expect(JSON.stringify([a.names, a.called, a.discovered, a.searched])).not.toMatch(/folder_1|user 1/);
  expect(JSON.stringify([b.names, b.called, b.discovered, b.searched])).not.toMatch(/folder_0|user 0/);
  expect(a.others).toMatch(/^tool_not_found/);
  expect(b.others).toMatch(/^tool_not_found/);
  expect(new Set(mail.users)).toEqual(new Set([0, 1]));
  // All logins share one registration.
  expect(by.requests("/register")).toHaveLength(1);
  expect((await ada.ask("GET", "/me/logins")).body["items"]).toMatchObject([
    { server: uuid, ready: true, login: { state: "active", issuer: by.url, renews: true } },
  ]);
});

test("a login ends with a logout and when its account is disabled or deleted", async () => {
  const { gateway, api, by, uuid, ada, bob } = await userLoginTeam();
  await ada.logIn();
  await bob.logIn();
  const main = await teamClient(gateway, "main", { key: ada.key });
  const call = () => main.call("mcp_call", { server: "mail", tool: "inbox" });
  expect(await call()).toBe("inbox by user 0");
  const connected = async () => (await api("GET", `/mcp-servers/${uuid}`)).body.status.connected;
  expect(await connected()).toBe(true);
  expect((await ada.ask("DELETE", "/me/logins/mail")).status).toBe(204);
  expect(by.families.map(({ revoked }) => revoked)).toEqual([true, false]);
  expect(await call()).toMatch(/^auth_required/);
  await until(async () => !(await connected()), { what: "the connection to end" });
  expect((await ada.ask("DELETE", "/me/logins/mail")).status).toBe(404);
  // A second login is a new one, and the session continues.
  await ada.logIn();
  expect(await call()).toBe("inbox by user 2");
  const bobs = await teamClient(gateway, "main", { key: bob.key });
  expect(await bobs.call("mcp_call", { server: "mail", tool: "inbox" })).toBe("inbox by user 1");
  await api("PATCH", `/users/${ada.uuid}`, { disabled: true });
  await expect(call()).rejects.toThrow();
  await api("DELETE", `/users/${bob.uuid}`);
  await until(() => by.families[1]?.revoked, { what: "the tokens to be revoked" });
});

test("an aggregate client is notified of its own login, and other clients are not", async () => {
  const { gateway, ada, bob } = await userLoginTeam();
  const [hers, his] = [
    await teamClient(gateway, "all", { key: ada.key }),
    await teamClient(gateway, "all", { key: bob.key }),
  ];
  expect([await hers.tools(), await his.tools()]).toEqual([[], []]);
  await ada.logIn();
  await until(() => hers.listChanges > 0, { what: "list_changed" });
  expect(await hers.tools()).toContain("mail__folder_0");
  expect(await his.tools()).toEqual([]);
  expect(his.listChanges).toBe(0);
  await ada.ask("DELETE", "/me/logins/mail");
  await until(() => hers.listChanges > 1, { what: "list_changed after the logout" });
  expect(await hers.tools()).toEqual([]);
});

test("a login is valid only for the person who began it, in their browser, once and for its server", async () => {
  const { gateway, api, by, ada, bob } = await userLoginTeam();
  const begun = async (person: typeof ada) =>
    String((await person.ask("POST", "/me/logins/mail", {})).body["url"]);
  // Bob is given an address that Ada began. What he allows must not become her login.
  const trap = await completeLogin(bob.browser, await begun(ada));
  expect([trap.status, trap.text]).toEqual([400, expect.stringContaining("started in another browser")]);
  expect(by.families).toEqual([]);
  // A browser without a login at the gateway is rejected too.
  const address = await begun(ada);
  const left = await fetch(address, { redirect: "manual" });
  const back = new URL(left.headers.get("location") ?? "");
  expect((await fetch(back)).status).toBe(400);
  // The answer of another issuer is rejected and uses up the login.
  const mixed = new URL(back);
  mixed.searchParams.set("iss", "https://evil.example");
  expect((await ada.browser.open(mixed)).status).toBe(400);
  expect((await ada.browser.open(back)).status).toBe(400);
  expect(by.requests("/token")).toEqual([]);
  // The right answer is accepted only once.
  const again = await fetch(await begun(ada), { redirect: "manual" });
  const good = again.headers.get("location") ?? "";
  expect((await ada.browser.open(good)).status).toBe(200);
  expect((await ada.browser.open(good)).status).toBe(400);
  expect(by.requests("/token")).toHaveLength(1);
  const atServer = await until(
    async () => {
      const { items } = (await api("GET", "/audit?kind=login")).body;
      const found = items.filter(({ action }: { action: string }) => action === "server");
      return found.length > 1 && found;
    },
    { what: "the records" },
  );
  expect(atServer).toMatchObject([
    { outcome: "ok", principal: { id: ada.uuid }, server: { name: "mail" } },
    { outcome: "refused", principal: { id: ada.uuid } },
  ]);
  const noCookie = apiClient(gateway.url, { authorization: `Bearer ${ADMIN_TOKEN}` });
  expect((await noCookie("POST", "/me/logins/mail", {})).status).toBe(403);
  const keyed = await ada.ask("POST", "/api-keys", { name: "role", role: "member" });
  const byKey = apiClient(gateway.url, { authorization: `Bearer ${keyed.body["key"]}` });
  expect((await byKey("POST", "/me/logins/mail", {})).status).toBe(403);
});

test("a login redirects only to pages of the gateway", async () => {
  const { ada } = await userLoginTeam();
  for (const returnTo of ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
    expect((await ada.ask("POST", "/me/logins/mail", { returnTo })).status).toBe(422);
  const begun = await ada.ask("POST", "/me/logins/mail", { returnTo: "/me?tab=logins" });
  const left = await fetch(String(begun.body["url"]), { redirect: "manual" });
  const headers = {
    cookie: [...ada.browser.cookies].map(([key, { value }]) => `${key.split(" ")[0]}=${value}`).join("; "),
  };
  const back = await fetch(left.headers.get("location") ?? "", { redirect: "manual", headers });
  expect([back.status, back.headers.get("location")]).toEqual([303, "/me?tab=logins"]);
});

test("the login page requires a login, shows what is needed, and rejects other accounts and origins", async () => {
  const { gateway, uuid, by, ada, bob } = await userLoginTeam();
  const page = `${gateway.url}/oauth/logins/${uuid}?for=${ada.uuid}`;
  const stranger = await fetch(page);
  expect(await stranger.text()).toContain("Password");
  expect(stranger.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect((await bob.browser.open(page)).text).toContain("another account asked for this login");
  const needed = await ada.browser.open(page);
  expect(needed.text).toContain("Log in to mail");
  const forged = await ada.browser.submit(needed, { action: "begin" }, { origin: "https://evil.example" });
  expect(forged.status).toBe(403);
  const leave = await ada.browser.submit(needed, { action: "begin" });
  const [, address = ""] = /url=(\S+)$/.exec(leave.headers.get("refresh") ?? "") ?? [];
  expect(new URL(address).origin).toBe(by.url);
  expect((await completeLogin(ada.browser, address)).text).toContain("You can use <strong>mail</strong> now");
  expect((await ada.browser.open(page)).text).toContain("You can use");
  const nothing = await ada.browser.open(`${gateway.url}/oauth/logins/${ada.uuid}`);
  expect(nothing.status).toBe(404);
});

test("an account cannot log in at a server that it may not use", async () => {
  const { gateway, api, uuid, ada } = await userLoginTeam();
  await api("POST", "/users", { email: "bob@example.org", role: "member" });
  for (const name of ["all", "main", "tools"])
    await api("PATCH", `/endpoints/${name}`, { access: { allow: { users: ["bob@example.org"] } } });
  expect((await ada.ask("GET", "/me/logins")).body["items"]).toEqual([]);
  expect((await ada.ask("POST", "/me/logins/mail", {})).status).toBe(404);
  for (const reference of [uuid, "mail", "nothing", "%ff"])
    expect((await ada.browser.open(`${gateway.url}/oauth/logins/${reference}`)).status).toBe(404);
});

test("an administrator logs the gateway in at a server with shared credentials", async () => {
  const { gateway, api, uuid, by, ada, bob } = await userLoginTeam();
  expect((await api("POST", `/mcp-servers/${uuid}/login`, {})).status).toBe(409);
  await api("PATCH", `/mcp-servers/${uuid}`, { credentials: "shared", oauth: true });
  const main = await teamClient(gateway, "main", { key: ada.key });
  const call = () => main.call("mcp_call", { server: "mail", tool: "inbox" });
  expect(await call()).toContain(
    `Ask an administrator of the gateway to open ${gateway.url}/oauth/logins/${uuid}`,
  );
  expect((await ada.ask("POST", `/mcp-servers/${uuid}/login`, {})).status).toBe(403);
  expect((await ada.browser.open(`${gateway.url}/oauth/logins/${uuid}`)).status).toBe(404);

  const root = await userLoginPerson(gateway, "root@example.org", "admin");
  expect((await root.browser.open(`${gateway.url}/oauth/logins/mail`)).text).toContain("share this login");
  const begun = await root.ask("POST", `/mcp-servers/${uuid}/login`, {});
  const trap = await completeLogin(bob.browser, String(begun.body["url"]));
  expect(trap.status).toBe(400);
  const again = await root.ask("POST", `/mcp-servers/${uuid}/login`, {});
  expect((await completeLogin(root.browser, String(again.body["url"]))).status).toBe(200);
  expect(await call()).toBe("inbox by user 0");
  expect((await root.ask("GET", `/mcp-servers/${uuid}/login`)).body).toMatchObject({
    state: "active",
    issuer: by.url,
  });
  expect((await root.ask("DELETE", `/mcp-servers/${uuid}/login`)).status).toBe(204);
  expect(await call()).toMatch(/^auth_required/);
});

test("a shared login that a token or key started is finished by the one browser that used its link", async () => {
  const { gateway, api, uuid, bob } = await userLoginTeam();
  await api("PATCH", `/mcp-servers/${uuid}`, { credentials: "shared", oauth: true });
  const { body } = await api("POST", "/api-keys", { name: "script", role: "admin" });
  const begin = async (credential: string) => {
    const headers = { authorization: `Bearer ${credential}`, "content-type": "application/json" };
    const answer = await adminFetch(`${gateway.url}/api/v1/mcp-servers/mail/login`, {
      method: "POST",
      headers,
      body: "{}",
    });
    return ((await answer.json()) as { url: string }).url;
  };
  for (const start of [
    async () => (await api("POST", "/mcp-servers/mail/login", {})).body.url,
    () => begin(body.key),
  ]) {
    const link = String(await start());
    expect(new URL(link).origin).toBe(gateway.url);
    const browser = new Browser();
    // Looking at the page does not use the link up.
    await browser.open(link);
    const page = await browser.open(link);
    expect(page.text).toContain("mail");
    const foreign = await new Browser().submit(page, { action: "begin" }, { origin: "https://evil.test" });
    expect(foreign.status).toBe(403);
    const sent = await browser.submit(page, { action: "begin" });
    const atIssuer = sent.headers.get("refresh")?.replace("0; url=", "") ?? "";
    expect((await new Browser().open(link)).status).toBe(404);
    const left = await fetch(atIssuer, { redirect: "manual" });
    const back = left.headers.get("location") ?? "";
    // Others who got the address of the issuer, or the answer, cannot finish the login.
    for (const other of [new Browser(), bob.browser]) expect((await other.open(back)).status).toBe(400);
    expect((await browser.open(back)).status).toBe(200);
  }
});
