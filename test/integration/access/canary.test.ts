/**
 * Searches for secrets of the gateway, its servers, accounts, keys and logins in all places where they must
 * not appear.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { Browser } from "../../support/browser.ts";
import { identityProvider, OIDC_CLIENT } from "../../support/identity-provider.ts";
import { issuer } from "../../support/issuer.ts";
import { mcp } from "../../support/mcp-request.ts";
import { OAuthClient } from "../../support/oauth-client.ts";
import { collector } from "../../support/otlp.ts";
import { apiClient, cookieIn } from "../../support/people.ts";
import { ADMIN_TOKEN, teamClient } from "../../support/team-gateway.ts";
import { type TeamProcess, teamProcess } from "../../support/team-process.ts";
import { fixture, temp } from "../../support/temp.ts";
import { noPostgres, postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";
import { userLoginServer } from "../../support/user-login-server.ts";
import { completeLogin } from "../../support/user-login-team.ts";

const CHILD = fileURLToPath(new URL("../../fixture/own-child.mjs", import.meta.url));
const ADA = { email: "ada@example.org", password: "canary-password-of-ada" };
const KEY = "canary-key-that-seals-everything-0123456789";

/** Returns the content of the store as a thief would see it. */
type Dump = () => Promise<string>;

async function onFile() {
  return { flags: [], dump: (() => Promise.resolve("")) as Dump };
}

async function onPostgres() {
  const { url, sql } = await postgresDatabase();
  const dump: Dump = async () => {
    const tables = await sql(
      "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()",
    );
    const rows = await Promise.all(
      tables.map(({ table_name: name }) => sql(`SELECT * FROM ${String(name)}`)),
    );
    expect(rows.flat().length).toBeGreaterThan(20);
    return JSON.stringify(rows, (_, value) =>
      value?.type === "Buffer" ? Buffer.from(value.data).toString("latin1") : value,
    );
  };
  return { flags: ["--store", url], dump };
}

/** A server that repeats the received Authorization header in every error. */
async function parrot(): Promise<string> {
  const server = createServer((request, response) => {
    const message = `bad ${request.headers.authorization}`;
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message } }));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

/** Every GET route of the admin API: each path, and each path below a list for each of its items. */
async function everyAnswer(ask: ReturnType<typeof apiClient>): Promise<ReadonlyMap<string, string>> {
  const paths = (await ask("GET", "/openapi.json")).body["paths"] as unknown as Record<
    string,
    { get?: object }
  >;
  const read = Object.keys(paths).filter((path) => paths[path]?.get && !/events|\/login|openapi/.test(path));
  const answers = new Map<string, string>();
  const get = async (path: string) => {
    const { body } = await ask("GET", path);
    answers.set(path, typeof body === "string" ? body : JSON.stringify(body));
    return body;
  };
  for (const path of read.filter((one) => !one.includes("{"))) await get(path);
  for (const path of read.filter((one) => /^[^{]+\{\w+\}[^{]*$/.test(one))) {
    const [list = "", rest = ""] = path.split(/\/\{\w+\}/);
    const { items = [] } = JSON.parse(answers.get(list) ?? "{}") as { items?: Record<string, unknown>[] };
    for (const { uuid, id, revision } of items) await get(`${list}/${String(uuid ?? id ?? revision)}${rest}`);
  }
  for (const path of ["/calls?format=jsonl", "/audit?format=jsonl"]) await get(path);
  return answers;
}

/** Uses every feature that has a secret. Returns the secrets by name. */
async function useEverySecret(gateway: TeamProcess) {
  const { api, url } = gateway;
  const by = await issuer();
  const mail = await userLoginServer(by);
  const secrets = new Map<string, string>([
    ["password", ADA.password],
    ["admin token", ADMIN_TOKEN],
    ["secret key", KEY],
    ["client secret of OIDC", OIDC_CLIENT.secret],
  ]);
  const remember = (name: string, text: unknown): string => {
    secrets.set(name, String(text));
    return String(text);
  };
  const servers = {
    fix: { ...fixture(), env: { TOKEN: remember("env", "canary-env-of-the-server") } },
    own: { command: process.execPath, args: [CHILD], env: { TOKEN: `\${user.secret.MAIL}` } },
    mail: { url: mail.url, credentials: "user" },
    parrot: {
      url: await parrot(),
      headers: { Authorization: `Bearer ${remember("header", "canary-header-of-the-server")}` },
    },
  };
  for (const [name, server] of Object.entries(servers))
    await api("POST", "/mcp-servers", { name, ...server });
  await api("POST", "/namespaces", {
    name: "team",
    servers: Object.keys(servers).map((server) => ({ server })),
  });
  await api("POST", "/endpoints", { name: "main", namespaces: ["team"] });
  await api("POST", "/endpoints", { name: "query", namespaces: ["team"], access: { queryKey: true } });
  const { body: invited } = await api("POST", "/users", { email: ADA.email, role: "admin" });
  const code = remember("invitation", invited.invitation.url.split("/").at(-1));
  const ask = apiClient(url);
  const cookie = cookieIn(await ask("POST", `/invitations/${code}`, { password: ADA.password }));
  remember("cookie", cookie.split("=")[1]);
  remember("cookie of a login", cookieIn(await ask("POST", "/login", ADA)).split("=")[1]);
  await ask("POST", "/login", { ...ADA, password: remember("wrong password", "canary-wrong-password") });
  const as = apiClient(url, { cookie, origin: url });
  const events = await adminFetch(`${url}/api/v1/events`, { headers: { cookie } });
  await as("PUT", "/me/secrets/MAIL", { value: remember("secret", "canary-secret-of-ada") });
  const made = await as("POST", "/api-keys", { name: "k", endpoints: "all" });
  const key = remember("key", made.body["key"]);
  remember("key with a role", (await as("POST", "/api-keys", { name: "r", role: "viewer" })).body["key"]);

  const client = new OAuthClient(url, { endpoint: "main" });
  const registered = await client.register({ token_endpoint_auth_method: "client_secret_post" });
  const secret = remember("client secret", registered.body.client_secret);
  const back = await client.logIn(ADA);
  const shown = remember("code", back.url.searchParams.get("code"));
  const { body: tokens } = await client.exchange(shown, { client_secret: secret });
  remember("access token", tokens.access_token);
  remember("refresh token", tokens.refresh_token);
  remember("verifier", client.verifier);
  for (const [name, { value }] of client.browser.cookies)
    if (value.length > 15) remember(`cookie ${name}`, value);
  const begun = await mcp(gateway, "main", { token: tokens.access_token });
  remember("session", begun.headers.get("mcp-session-id"));
  for (const headers of [
    { "x-api-key": `${key}x` },
    { "x-api-key": secret },
    { authorization: `Bearer ${shown}` },
  ])
    await mcp(gateway, "main", { headers });
  const inAddress = await fetch(`${url}/metamcp/query/sse?api_key=${key}`);
  await inAddress.body?.cancel();
  for (const method of ["POST", "DELETE"])
    await fetch(`${url}/metamcp/query/mcp?api_key=${key}`, { method, body: "{}" });

  const browser = new Browser();
  await browser.submit(await browser.open(`${url}/oauth/logins/00000000-0000-7000-8000-000000000000`), ADA);
  const login = await as("POST", "/me/logins/mail", {});
  expect((await completeLogin(browser, String(login.body["url"]))).text).toContain("You can use");
  const caller = await teamClient(gateway, "main", { key });
  for (const [server, tool] of [
    ["fix", "fail"],
    ["own", "only_ada"],
    ["own", "whoami"],
    ["mail", "inbox"],
    ["parrot", "x"],
  ])
    await caller.call("mcp_call", { server, tool });
  by.expireAll();
  await caller.call("mcp_call", { server: "mail", tool: "inbox" });
  await caller.call("mcp_discover", {});
  for (const token of by.secrets) remember(`of the issuer: ${token}`, token);
  return { secrets, as, events };
}

describe.each([
  ["a file", onFile, undefined],
  [`Postgres${noPostgres ? ` (left out: ${noPostgres})` : ""}`, onPostgres, noPostgres],
])("with a store on %s", (_, place, obstacle) => {
  test.skipIf(obstacle)(
    "no secret appears in an answer, log, record, event, metric, trace, revision, export or file",
    { timeout: 120_000 },
    async () => {
      const folder = temp();
      const traces = await collector();
      const provider = await identityProvider();
      const { flags, dump } = await place();
      const [log, audit] = [folder.path("gateway.log"), folder.path("audit.jsonl")];
      const gateway = await teamProcess(folder, {
        flags: [
          ...flags,
          "--log-level=debug",
          `--log-file=${log}`,
          `--audit-file=${audit}`,
          `--oidc-issuer=${provider.issuer}`,
          `--oidc-client-id=${OIDC_CLIENT.id}`,
        ],
        env: {
          METAMCP_SECRET_KEY: KEY,
          METAMCP_OIDC_CLIENT_SECRET: OIDC_CLIENT.secret,
          OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
        },
      });
      const { secrets, as, events } = await useEverySecret(gateway);
      await until(() => traces.spans.length > 3, { what: "spans" });
      const answers = await everyAnswer(as);
      expect(answers.size).toBeGreaterThan(50);
      const metrics = await (
        await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
      ).text();
      await gateway.kill("SIGTERM");
      const places = new Map([
        ...answers,
        ["metrics", metrics],
        ["traces", JSON.stringify(traces.requests)],
        ["events", await events.text().catch(() => "")],
        ["stderr", gateway.stderr],
        ["store", await dump()],
        ...filesBelow(folder.folder).map((path) => [path, readFileSync(path, "latin1")] as const),
      ]);
      for (const name of ["metrics", "traces", "events", log, audit])
        expect(places.get(name)?.length, name).toBeGreaterThan(500);
      for (const [name, secret] of secrets) {
        expect(secret.length, name).toBeGreaterThan(15);
        const forms = [
          secret,
          encodeURIComponent(secret),
          Buffer.from(secret).toString("base64url").slice(0, -1),
        ];
        for (const [where, text] of places)
          expect(
            forms.some((form) => text.includes(form)),
            `${name} in ${where}`,
          ).toBe(false);
      }
    },
  );
});
