/**
 * Values of the calling account for a server: `${user.…}` in env and headers, and one process per account.
 */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readExposition } from "../../support/exposition.ts";
import { httpChild, json, result } from "../../support/http-child.ts";
import { alive, gone } from "../../support/processes.ts";
import { type TeamGateway, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";
import { type UserLoginPerson, userLoginPerson } from "../../support/user-login-team.ts";

const CHILD = fileURLToPath(new URL("../../fixture/own-child.mjs", import.meta.url));
const ENV = { WHO: `\${user.email}`, TOKEN: `\${user.secret.MAIL}` };

async function team(server: object = { command: process.execPath, args: [CHILD], env: ENV }) {
  const folder = temp();
  const gateway = await teamGateway(folder);
  const made = await gateway.api("POST", "/mcp-servers", { name: "own", ...server });
  await gateway.api("POST", "/namespaces", { name: "team", servers: [{ server: "own" }] });
  for (const [name, surface] of [
    ["all", "aggregate"],
    ["main", "meta"],
  ])
    await gateway.api("POST", "/endpoints", { name, namespaces: ["team"], surface });
  const ada = await userLoginPerson(gateway, "ada@example.org");
  const bob = await userLoginPerson(gateway, "bob@example.org");
  return { folder, gateway, ada, bob, uuid: String(made.body.uuid) };
}

const storeSecret = ({ ask }: UserLoginPerson, name: string, value: string) =>
  ask("PUT", `/me/secrets/${name}`, { value });

async function whoami(gateway: TeamGateway, { key }: UserLoginPerson) {
  const client = await teamClient(gateway, "main", { key });
  const call = () => client.call("mcp_call", { server: "own", tool: "whoami" });
  return { client, call };
}

test("each account has its own process with its own values, and a changed secret applies to the next call", async () => {
  const { gateway, uuid, ada, bob } = await team();
  const [hers, his] = [await whoami(gateway, ada), await whoami(gateway, bob)];
  const page = `${gateway.url}/oauth/logins/${uuid}?for=${ada.uuid}`;
  expect(await hers.call()).toBe(
    `auth_required: own requires your secret MAIL. Ask the user to open ${page}. Repeat the call after that.`,
  );
  await storeSecret(ada, "MAIL", "secret-of-ada-1");
  await storeSecret(bob, "MAIL", "secret-of-bob-1");
  const [email, token, pid] = (await hers.call()).split(" ");
  expect([email, token]).toEqual(["ada@example.org", "secret-of-ada-1"]);
  const [, , bobsPid] = (await his.call()).split(" ");
  expect(bobsPid).not.toBe(pid);
  // All clients of an account share one process.
  const again = await whoami(gateway, ada);
  expect((await again.call()).split(" ")[2]).toBe(pid);

  await storeSecret(ada, "MAIL", "secret-of-ada-2");
  const [, renewed, newPid] = (await hers.call()).split(" ");
  expect(renewed).toBe("secret-of-ada-2");
  expect(newPid).not.toBe(pid);
  await gone(Number(pid));
  expect((await his.call()).split(" ")[2]).toBe(bobsPid);

  await ada.ask("DELETE", "/me/secrets/MAIL");
  expect(await hers.call()).toMatch(/^auth_required/);
  await gone(Number(newPid));
  expect(alive(Number(bobsPid))).toBe(true);
  await gateway.api("PATCH", `/users/${bob.uuid}`, { disabled: true });
  await gone(Number(bobsPid));
});

test("an account sees its own list, and none without its secret", async () => {
  const { gateway, ada, bob } = await team();
  await storeSecret(ada, "MAIL", "secret-of-ada-1");
  const hers = await teamClient(gateway, "all", { key: ada.key });
  const his = await teamClient(gateway, "all", { key: bob.key });
  const nobodys = await teamClient(gateway, "all", { key: await gateway.key() });
  expect((await hers.tools()).toSorted()).toEqual(["own__only_ada", "own__whoami"]);
  expect([await his.tools(), await nobodys.tools()]).toEqual([[], []]);
  await storeSecret(bob, "MAIL", "secret-of-bob-1");
  await until(() => his.listChanges > 0, { what: "list_changed" });
  expect((await his.tools()).toSorted()).toEqual(["own__only_bob", "own__whoami"]);
  await expect(his.call("own__only_ada")).rejects.toThrow("Unknown tool: own__only_ada");
});

test("a filled-in value is not expanded again", async () => {
  const { gateway, ada } = await team({
    command: process.execPath,
    args: [CHILD],
    env: { WHO: `\${user.secret.A} \${user.secret.B} \${user.id}`, TOKEN: `x\${user.secret.A}y` },
  });
  await storeSecret(ada, "A", `\${user.secret.B}\${HOME}$&`);
  await storeSecret(ada, "B", "inner-secret");
  const { call } = await whoami(gateway, ada);
  const [a, b, id, token] = (await call()).split(" ");
  expect([a, b, id]).toEqual([`\${user.secret.B}\${HOME}$&`, "inner-secret", ada.uuid]);
  expect(token).toBe(`x\${user.secret.B}\${HOME}$&y`);
});

test("values are filled into headers, and one that no header can contain is not sent", async () => {
  const seen: (string | undefined)[] = [];
  const child = await httpChild(({ message: { id, method }, headers }, response) => {
    seen.push(headers.authorization);
    if (id === undefined) return void response.writeHead(202).end();
    const hello = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "h" } };
    const tools = [{ name: "whoami", inputSchema: { type: "object" } }];
    if (method === "initialize") json(response, result(id, hello));
    else if (method === "tools/list") json(response, result(id, { tools }));
    else json(response, result(id, { content: [{ type: "text", text: "here" }] }));
  });
  const { gateway, ada, bob } = await team({
    url: child.url,
    headers: { Authorization: `Bearer \${user.secret.MAIL}` },
  });
  await storeSecret(ada, "MAIL", "header-secret-of-ada");
  await storeSecret(bob, "MAIL", "snowman-☃-of-bob");
  expect(await (await whoami(gateway, ada)).call()).toBe("here");
  expect(await (await whoami(gateway, bob)).call()).toMatch(/contains a character that cannot be sent/);
  expect(new Set(seen)).toEqual(new Set(["Bearer header-secret-of-ada"]));
});

test("the login page stores the secret, and only for its own account", async () => {
  const { gateway, uuid, ada, bob } = await team();
  const page = `${gateway.url}/oauth/logins/${uuid}?for=${ada.uuid}`;
  expect((await bob.browser.open(page)).text).toContain("another account asked");
  const needed = await ada.browser.open(page);
  expect(needed.text).toContain('name="secret.MAIL"');
  expect((await ada.browser.submit(needed, { "secret.MAIL": "two\nlines" })).text).toContain("one line");
  expect((await ada.browser.submit(needed, { "secret.MAIL": "typed-secret" })).text).toContain("You can use");
  expect(await (await whoami(gateway, ada)).call()).toContain("typed-secret");
  expect((await ada.ask("GET", "/me/logins")).body["items"]).toMatchObject([
    { name: "own", needs: "values", ready: true },
  ]);
  expect((await ada.ask("POST", "/me/logins/own", {})).status).toBe(409);
});

test("an unknown variable, or a variable in another field, is rejected", async () => {
  const { gateway } = await team();
  const problems = async (server: object) =>
    ((await gateway.api("POST", "/mcp-servers", { name: "bad", ...server })).body.errors ?? []).map(
      ({ path }: { path: string }) => path,
    );
  expect(await problems({ command: "x", env: { A: `\${user.name}` } })).toEqual(["/env/A"]);
  expect(await problems({ command: "x", env: { A: `\${user.secret.1}`, B: `\${user.email}` } })).toEqual([
    "/env/A",
  ]);
  expect(await problems({ url: "https://x.example", headers: { A: `\${user.secret.}` } })).toEqual([
    "/headers/A",
  ]);
  expect(await problems({ command: "x", args: [`\${user.email}`] })).toEqual(["/args"]);
  expect(await problems({ url: `https://x.example/\${user.id}` })).toEqual(["/url"]);
});

test("a wrong secret of one account blocks the server only for that account, and administrators cannot use it", async () => {
  const { gateway, uuid, ada, bob } = await team({
    command: process.execPath,
    args: [CHILD],
    env: { ...ENV, FAIL: "wrong" },
  });
  await storeSecret(ada, "MAIL", "wrong-secret-of-ada");
  await storeSecret(bob, "MAIL", "right-secret-of-bob");
  const hers = await whoami(gateway, ada);
  for (let turn = 0; turn < 7; turn++) expect(await hers.call()).toMatch(/^server_unavailable/);
  expect(await hers.call()).toMatch(/blocked/);
  expect(await hers.call()).not.toContain("wrong-secret-of-ada");
  expect(await (await whoami(gateway, bob)).call()).toContain("right-secret-of-bob");

  const root = await userLoginPerson(gateway, "root@example.org", "admin");
  const tried = await root.watch("POST", "/endpoints/main/try", {
    as: bob.email,
    name: "mcp_call",
    args: { server: "own", tool: "whoami" },
  });
  expect(JSON.stringify(await tried.next("result", "error"))).toContain("auth_required");
  const inspected = await root.ask("POST", `/mcp-servers/${uuid}/tools/whoami/call`, { args: {} });
  expect(JSON.stringify(inspected.body)).toContain("auth_required");
  const logs = JSON.stringify((await root.ask("GET", `/mcp-servers/${uuid}/logs`)).body);
  expect(logs).toContain("started for");
  expect(logs).not.toMatch(/secret-of-(ada|bob)/);
});

test("calls are counted under the names of listed tools, and invented names are not counted", async () => {
  const { gateway, ada, bob } = await team();
  await storeSecret(ada, "MAIL", "of-ada");
  await storeSecret(bob, "MAIL", "of-bob");
  const { client, call } = await whoami(gateway, ada);
  await call();
  await call();
  // Only Bob lists this tool, so it is not a tool name for Ada.
  await (await whoami(gateway, bob)).call();
  for (const tool of ["only_bob", "made_up"]) await client.call("mcp_call", { server: "own", tool });
  const calls = readExposition(await (await fetch(`${gateway.url}/metrics`)).text())
    .filter(({ name }) => name === "metamcp_calls_total")
    .map(({ labels, value }) => [labels["server"], labels["tool"], labels["outcome"], value]);
  expect(calls).toContainEqual(["own", "whoami", "ok", 3]);
  expect(calls.map(([, tool]) => tool)).not.toContain("made_up");
  expect(calls.filter(([server]) => server === "own")).toHaveLength(1);
});
