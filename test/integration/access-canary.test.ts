/** Secrets of people, keys and logins: looked for wherever they must not be. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HEADERS } from "../support/http-gateway.ts";
import { cookieIn, plainly } from "../support/people.ts";
import { teamClient, teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";

const PASSWORD = "canary-password-of-ada";
const SECRET = "canary-secret-of-ada";
const ENV = "canary-env-of-the-server";

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && !path.endsWith("secret.key"));
}

test("no secret is in any answer, log, revision, export or file", async () => {
  const folder = temp();
  const log = folder.path("gateway.log");
  const flags = ["--log-level", "debug", "--log-file", log];
  const gateway = await teamGateway(folder, { flags });
  const answers: string[] = [];
  const { api } = gateway;
  const kept = async (method: string, path: string, body?: unknown) => {
    const answer = await api(method, path, body);
    answers.push(JSON.stringify(answer.body ?? null));
    return answer;
  };
  await kept("POST", "/mcp-servers", { name: "fix", ...fixture(), env: { TOKEN: ENV } });
  await kept("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  await kept("POST", "/endpoints", { name: "main", namespaces: ["team"], surface: "aggregate" });
  const invited = (await api("POST", "/users", { email: "ada@example.org", role: "admin" })).body;
  const code: string = invited.invitation.url.split("/").at(-1);
  const ask = plainly(gateway.url);
  const accepted = await ask("POST", `/invitations/${code}`, { password: PASSWORD });
  const cookie = cookieIn(accepted);
  const login = await ask("POST", "/login", { email: "ada@example.org", password: PASSWORD });
  const refused = await ask("POST", "/login", { email: "ada@example.org", password: `${PASSWORD}-wrong` });
  const as = plainly(gateway.url, { cookie, origin: gateway.url });
  await as("PUT", "/me/secrets/GITHUB", { value: SECRET });
  const key: string = (await as("POST", "/api-keys", { name: "k", endpoints: "all" })).body["key"] ?? "";
  const role: string = (await as("POST", "/api-keys", { name: "r", role: "viewer" })).body["key"] ?? "";
  await (await teamClient(gateway, "main", { key })).tools();
  for (const shown of [`${key}x`, role, SECRET])
    await fetch(`${gateway.url}/metamcp/main/mcp`, {
      method: "POST",
      headers: { ...HEADERS, "x-api-key": shown },
      body: "{}",
    });
  for (const { body } of [accepted, login, refused]) answers.push(JSON.stringify(body));
  const paths = [
    "/me",
    "/me/secrets",
    "/api-keys",
    "/users",
    `/users/${invited.uuid}`,
    "/mcp-servers",
    "/revisions",
    "/revisions/1",
    "/config",
    "/settings",
    "/audit",
    "/calls",
    "/stats",
    "/sessions",
    "/metrics",
  ];
  for (const path of paths) answers.push(JSON.stringify((await as("GET", path)).body ?? null));
  await gateway.kill("SIGTERM");
  const secretsOf = {
    PASSWORD,
    SECRET,
    ENV,
    code,
    key,
    role,
    cookie: cookie.split("=")[1] ?? "",
    login: cookieIn(login).split("=")[1] ?? "",
  };
  const files = filesBelow(folder.home).map((path) => [path, readFileSync(path, "latin1")] as const);
  expect(files.some(([path]) => path.endsWith("gateway.db"))).toBe(true);
  const places = [
    ...answers.map((text, at) => [`answer ${at}`, text] as const),
    ["stderr", gateway.stderr] as const,
    ["log", readFileSync(log, "utf8")] as const,
    ...files,
  ];
  for (const [name, secret] of Object.entries(secretsOf)) {
    expect(secret.length, name).toBeGreaterThan(15);
    for (const [place, text] of places) expect(text.includes(secret), `${name} in ${place}`).toBe(false);
  }
});
