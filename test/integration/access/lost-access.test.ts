/**
 * Whoever loses the right to an endpoint gets nothing from it any more: streams, sessions and calls end with
 * the change.
 */
import { expect, onTestFinished, test } from "vitest";
import { HEADERS } from "../../support/http-gateway.ts";
import { mcp } from "../../support/mcp-request.ts";
import { type TeamGateway, teamGateway } from "../../support/team-gateway.ts";
import { type TeamPerson, teamPerson } from "../../support/team-person.ts";
import { fixture, temp } from "../../support/temp.ts";
import { noPostgres, postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const ERA_2026 = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": ERA_2026,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const LIST_CHANGED = "notifications/tools/list_changed";

interface Stream {
  readonly status: number;
  /** All bytes so far. */
  readonly text: string;
  readonly ended: boolean;
}

/** Opens a stream and reads it until it ends. */
async function streamOf(url: string, init: RequestInit): Promise<Stream> {
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const response = await fetch(url, { ...init, signal: stopping.signal });
  const read = { status: response.status, text: "", ended: false };
  const decoder = new TextDecoder();
  const reading = async (): Promise<void> => {
    for await (const part of response.body ?? []) read.text += decoder.decode(part, { stream: true });
  };
  void reading()
    .catch(() => {})
    .finally(() => (read.ended = true));
  return read;
}

type Headers = Readonly<Record<string, string>>;

/** The streams on which a client hears about changes, by transport. */
const LISTENING = {
  async streamable({ url }: TeamGateway, headers: Headers): Promise<Stream> {
    const begun = await mcp({ url }, "team", { headers });
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    const post = async (body: object): Promise<string> => {
      const init = { method: "POST", headers: { ...HEADERS, ...headers, ...session } };
      const sent = { ...init, body: JSON.stringify({ jsonrpc: "2.0", ...body }) };
      return await (await fetch(`${url}/metamcp/team/mcp`, sent)).text();
    };
    await post({ method: "notifications/initialized" });
    const stream = await streamOf(`${url}/metamcp/team/mcp`, {
      headers: { accept: "text/event-stream", ...headers, ...session },
    });
    expect(await post({ id: 2, method: "tools/list" })).toContain("fix__echo");
    return stream;
  },
  async sse({ url }: TeamGateway, headers: Headers): Promise<Stream> {
    const stream = await streamOf(`${url}/metamcp/team/sse`, { headers });
    const [, path] = await until(() => /^data: (\/\S+)$/m.exec(stream.text) ?? undefined);
    const post = async (body: object): Promise<void> => {
      const init = { method: "POST", headers: { ...HEADERS, ...headers } };
      const sent = { ...init, body: JSON.stringify({ jsonrpc: "2.0", ...body }) };
      await (await fetch(`${url}${path}`, sent)).text();
    };
    const clientInfo = { name: "test", version: "1" };
    await post({
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
    });
    await post({ method: "notifications/initialized" });
    await post({ id: 2, method: "tools/list" });
    await until(() => stream.text.includes("fix__echo"));
    return stream;
  },
  async "2026-07-28"({ url }: TeamGateway, headers: Headers): Promise<Stream> {
    const era = { "mcp-protocol-version": ERA_2026, "mcp-method": "subscriptions/listen" };
    const params = { notifications: { toolsListChanged: true }, _meta: META };
    const stream = await streamOf(`${url}/metamcp/team/mcp`, {
      method: "POST",
      headers: { ...HEADERS, ...era, ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params }),
    });
    await until(() => stream.text.includes("acknowledged"));
    return stream;
  },
};

const ALLOW = { groups: ["staff"], roles: ["editor"] };

async function endpoint({ api }: TeamGateway, ...flags: readonly string[]): Promise<void> {
  await api("POST", "/mcp-servers", { name: "fix", ...fixture(...flags) });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  const made = { name: "team", namespaces: ["team"], surface: "aggregate", access: { allow: ALLOW } };
  expect((await api("POST", "/endpoints", made)).status).toBe(201);
}

/** The credential of a key that the person made. */
async function keyOf(person: TeamPerson): Promise<Headers> {
  const { body } = await person.ask("POST", "/api-keys", { name: "own", endpoints: "all" });
  return { "x-api-key": String(body["key"]) };
}

async function listening(gateway: TeamGateway, headers: Headers): Promise<readonly Stream[]> {
  const streams = [];
  for (const open of Object.values(LISTENING)) streams.push(await open(gateway, headers));
  return streams;
}

const isOver = ({ ended }: Stream): boolean => ended;
const heardChange = ({ text }: Stream): boolean => text.includes(LIST_CHANGED);

interface Loss {
  readonly what: string;
  /** Takes the right from the person. `narrowed` is a revision in which members had no right. */
  take(gateway: TeamGateway, person: TeamPerson, narrowed: number): Promise<{ readonly status: number }>;
}

const patch = ({ api }: TeamGateway, access: object) => api("PATCH", "/endpoints/team", { access });
const NARROW = { allow: { groups: ["leads"], roles: ["editor"] } };

const LOSSES: readonly Loss[] = [
  { what: "access.allow", take: (gateway) => patch(gateway, NARROW) },
  {
    what: "a config document",
    async take({ api }) {
      const { body: document } = await api("GET", "/config");
      document.endpoints.team.access.allow = { users: ["nobody@example.org"], roles: ["editor"] };
      return await api("POST", "/config/apply", { document });
    },
  },
  {
    what: "a rollback",
    take: ({ api }, _, narrowed) => api("POST", `/revisions/${narrowed}/rollback`),
  },
  {
    what: "a group of the account",
    take: ({ api }, { uuid }) => api("PATCH", `/users/${uuid}`, { groups: [] }),
  },
  {
    what: "the address of the account",
    async take(gateway, { uuid, email }) {
      await patch(gateway, { allow: { users: [email], roles: ["editor"] } });
      await gateway.api("PATCH", `/users/${uuid}`, { groups: [] });
      return await gateway.api("PATCH", `/users/${uuid}`, { email: `other-${email}` });
    },
  },
];

test("a change that takes the right to an endpoint ends the streams there, and no others", async () => {
  const gateway = await teamGateway(temp());
  const { api } = gateway;
  await endpoint(gateway);
  const eve = await teamPerson(gateway, "editor", { email: "eve@example.org" });
  const keyOfEve = await keyOf(eve);
  const { revision: narrowed } = (await patch(gateway, NARROW)).body;
  for (const [at, { what, take }] of LOSSES.entries()) {
    expect((await patch(gateway, { allow: ALLOW })).status).toBe(200);
    const ada = await teamPerson(gateway, "member", { email: `ada${at}@example.org`, groups: ["staff"] });
    const keyOfAda = await keyOf(ada);
    const [lost, kept] = [await listening(gateway, keyOfAda), await listening(gateway, keyOfEve)];
    expect((await take(gateway, ada, narrowed)).status, what).toBe(200);
    await until(() => lost.every(isOver), { what: `the end of the streams after ${what}` });
    const tools = [{ server: "fix", tool: "add", name: `sum_${at}` }];
    expect((await api("PATCH", "/namespaces/team", { tools })).status).toBe(200);
    await until(() => kept.every(heardChange));
    expect(lost.filter(heardChange), what).toEqual([]);
    expect((await mcp(gateway, "team", { headers: keyOfAda })).status, what).toBe(404);
  }
});

test("changes that leave somebody the right to an endpoint end no stream there", async () => {
  const gateway = await teamGateway(temp());
  const { api } = gateway;
  await endpoint(gateway);
  await patch(gateway, { allow: { groups: ["staff", "leads"] } });
  const ada = await teamPerson(gateway, "member", { groups: ["staff"] });
  const ownerless = { "x-api-key": await gateway.key(["team"]) };
  const streams = [await listening(gateway, await keyOf(ada)), await listening(gateway, ownerless)].flat();
  for (const change of [{ groups: ["leads"] }, { role: "viewer" }, { email: "countess@example.org" }])
    expect((await api("PATCH", `/users/${ada.uuid}`, change)).status).toBe(200);
  expect((await patch(gateway, { allow: { groups: ["leads"] }, oauth: false })).status).toBe(200);
  const tools = [{ server: "fix", tool: "add", name: "sum" }];
  expect((await api("PATCH", "/namespaces/team", { tools })).status).toBe(200);
  await until(() => streams.every(heardChange), { what: "the change on all streams" });
  expect(streams.filter(isOver)).toEqual([]);
});

test("streams of a key without owner end when their endpoint takes no keys", async () => {
  const gateway = await teamGateway(temp());
  await endpoint(gateway);
  const streams = await listening(gateway, { "x-api-key": await gateway.key(["team"]) });
  expect((await patch(gateway, { keys: false })).status).toBe(200);
  await until(() => streams.every(isOver));
});

test("streams without a login end when their endpoint is no longer public", async () => {
  const gateway = await teamGateway(temp());
  await endpoint(gateway);
  await patch(gateway, { public: true });
  const streams = await listening(gateway, {});
  expect((await patch(gateway, { public: false })).status).toBe(200);
  await until(() => streams.every(isOver));
});

test("a running call ends when its caller loses the right to the endpoint", async () => {
  const folder = temp();
  const journal = folder.journal();
  const gateway = await teamGateway(folder);
  await endpoint(gateway, "--journal", journal.file);
  const ada = await teamPerson(gateway, "member", { groups: ["staff"] });
  const headers = await keyOf(ada);
  const begun = await mcp(gateway, "team", { headers });
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  const params = { name: "fix__hang", arguments: {} };
  const answer = streamOf(`${gateway.url}/metamcp/team/mcp`, {
    method: "POST",
    headers: { ...HEADERS, ...headers, ...session },
    body: JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params }),
  });
  await until(() => journal.events("message").some(({ tool }) => tool === "hang"));
  expect((await patch(gateway, NARROW)).status).toBe(200);
  await until(async () => (await answer).ended);
  expect((await answer).text).toContain("no longer use this endpoint");
});

test.each([
  ["access.keys", (gateway: TeamGateway) => patch(gateway, { keys: false })],
  ["the key", ({ api }: TeamGateway, key: string) => api("DELETE", `/api-keys/${key}`)],
] as const)("a 2026-07-28 call that waits for an answer of its client ends with %s", async (_, end) => {
  const folder = temp();
  const journal = folder.journal();
  const gateway = await teamGateway(folder);
  await endpoint(gateway, "--journal", journal.file);
  const { body: key } = await gateway.api("POST", "/api-keys", { name: "a key", endpoints: "all" });
  const name = "fix__ask";
  const era = { "mcp-protocol-version": ERA_2026, "mcp-method": "tools/call", "mcp-name": name };
  const _meta = { ...META, "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
  const params = { name, arguments: {}, _meta };
  const asked = await fetch(`${gateway.url}/metamcp/team/mcp`, {
    method: "POST",
    headers: { ...HEADERS, ...era, "x-api-key": key.key },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  expect(await asked.text()).toContain("requestState");
  expect((await end(gateway, key.uuid)).status).toBeLessThan(300);
  await until(() => journal.events("message").some(({ method }) => method === "notifications/cancelled"));
});

test.skipIf(noPostgres)(
  `a change at one gateway ends the streams at the other${noPostgres ? ` (left out: ${noPostgres})` : ""}`,
  async () => {
    const { url } = await postgresDatabase();
    const env = { METAMCP_SECRET_KEY: "a-secret-for-both-gateways-0123456789" };
    const start = () => teamGateway(temp(), { flags: ["--store", url], env });
    const [one, two] = [await start(), await start()];
    await endpoint(one);
    const people = [];
    for (const email of ["ada@example.org", "bob@example.org"])
      people.push(await teamPerson(one, "member", { email, groups: ["staff"] }));
    const [ada, bob] = people as [TeamPerson, TeamPerson];
    const opened = async (person: TeamPerson) => {
      const headers = await keyOf(person);
      await until(async () => (await mcp(two, "team", { headers })).status === 200);
      return await listening(two, headers);
    };
    const [ofAda, ofBob] = [await opened(ada), await opened(bob)];
    expect((await one.api("PATCH", `/users/${ada.uuid}`, { groups: [] })).status).toBe(200);
    await until(() => ofAda.every(isOver));
    expect(ofBob.some(isOver)).toBe(false);
    expect((await patch(one, NARROW)).status).toBe(200);
    await until(() => ofBob.every(isOver));
  },
);
