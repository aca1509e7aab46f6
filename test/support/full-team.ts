/** A gateway where every page of the console has something to show, in ordinary words or in those of a test. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { onTestFinished } from "vitest";
import { fakeNpx, fakeRegistry, npmEntry } from "./registry.ts";
import { type TeamGateway, teamGateway } from "./team-gateway.ts";
import { fixture, temp } from "./temp.ts";
import { until } from "./until.ts";

/** What others may write where. Each gets the ordinary word. */
export interface Words {
  /** Servers, namespaces and keys: up to 128 characters, none of them a control character, `/` or `:`. */
  name(plain: string): string;
  /** Everything else. */
  text(plain: string): string;
}

/** A call that waits for a yes does so as long as any test takes. */
const WAITS_MS = 600_000;

const PLAIN: Words = { name: (plain) => plain, text: (plain) => plain };

export interface FullTeam {
  readonly gateway: TeamGateway;
  /** Uuids and numbers of what can be opened. */
  readonly ids: Readonly<
    Record<
      "files" | "broken" | "namespace" | "endpoint" | "key" | "person" | "call" | "approval" | "request",
      string
    >
  >;
  /** Of a server with tools as the words make them: one that can be called, one that changed since it was approved. */
  readonly odd: { readonly server: string; readonly tool: string; readonly changed: string };
}

export async function fullTeam(words: Words = PLAIN): Promise<FullTeam> {
  const { name, text } = words;
  const folder = temp();
  const list = (...tools: readonly object[]) => folder.write("tools.json", JSON.stringify(tools));
  const toolName = (plain: string) => text(plain).slice(0, 200);
  const odd = (plain: string, description: string) => ({
    name: toolName(plain),
    title: text("Look"),
    description: text(description),
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: "object",
      properties: {
        [text("place").slice(0, 200)]: {
          type: "string",
          title: text("Place"),
          description: text("Where to look."),
        },
        kind: { enum: [text("near"), "far"], default: "far" },
        many: { type: "array", items: { type: "object", properties: { n: { type: "integer" } } } },
      },
    },
  });
  const see = odd("see", "Sees what is there.");
  list(see, odd("look", "Looks around."));
  const registry = await fakeRegistry([
    npmEntry("io.github.fixture/weather", text("Weather forecasts for any city in the world.")),
  ]);
  const gateway = await teamGateway(folder, {
    flags: ["--pin"],
    env: {
      PATH: fakeNpx(folder, ["--stderr", text("a line of its log")]),
      METAMCP_REGISTRY_URL: registry.url,
    },
  });
  const { api } = gateway;
  const post = async (path: string, body: object) => {
    const answer = await api("POST", path, body);
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const made = async (path: string, body: object): Promise<string> => (await post(path, body)).uuid;
  const server = (plain: string, body: object) =>
    made("/mcp-servers", { name: name(plain), description: text(`What ${plain} is for.`), ...body });
  const files = await server("files", { ...fixture("--stderr", text("ready")), labels: [text("docs")] });
  const look = await server("looks", fixture("--tools-file", folder.path("tools.json")));
  const ends = `console.error(${JSON.stringify(text("no token"))}); process.exit(3)`;
  const broken = await server("broken", { command: process.execPath, args: ["-e", ends] });
  const off = await server("resting", { url: "https://example.org/mcp", disabled: true });
  const namespace = await made("/namespaces", {
    name: name("team"),
    description: text("What everybody may use."),
    servers: [{ server: files, prefix: "files" }, ...[look, broken, off].map((one) => ({ server: one }))],
    tools: [{ server: files, tool: "add", title: text("Add up"), description: text("Adds, and says so.") }],
  });
  await made("/namespaces", { name: name("nobody") });
  const rules = [{ effect: "approve", tools: ["*:count_unsafe"] }];
  const endpoint = await made("/endpoints", {
    name: "main",
    description: text("For all of us."),
    namespaces: [namespace],
    surface: "aggregate",
    middleware: [{ use: "policy", default: "allow", rules }],
  });
  await made("/endpoints", { name: "open", namespaces: [namespace], access: { public: true } });
  for (const one of [files, look, broken]) await api("POST", `/mcp-servers/${one}/connect`);
  list(see, odd("look", "Looks around, and tells everybody."));
  await api("POST", `/mcp-servers/${look}/connect`);
  const person = await made("/users", {
    email: "bob@example.org",
    role: "member",
    groups: [text("accounting").slice(0, 100).trim()],
  });
  const key = await post("/api-keys", {
    name: name("laptop"),
    description: text("Of the laptop in the kitchen.").slice(0, 2_000),
    endpoints: "all",
  });
  const { approval, request } = await traffic(gateway, key.key, words);
  const { body: calls } = await api("GET", "/calls?limit=1");
  return {
    gateway,
    ids: {
      files,
      broken,
      namespace,
      endpoint,
      key: key.uuid,
      person,
      call: calls.items[0].id,
      approval,
      request,
    },
    odd: { server: look, tool: toolName("see"), changed: toolName("look") },
  };
}

/** A client that calls, fails, waits for a yes, and asks for a server; it stays connected. */
async function traffic(
  { url, api }: TeamGateway,
  key: string,
  { text }: Words,
): Promise<{ readonly approval: string; readonly request: string }> {
  const connected = async (endpoint: string) => {
    const client = new Client({ name: text("example-client"), version: text("1.0.0") });
    const at = new URL(`${url}/metamcp/${endpoint}/mcp`);
    const requestInit = { headers: { "x-api-key": key } };
    await client.connect(new StreamableHTTPClientTransport(at, { requestInit }) as never);
    onTestFinished(() => client.close());
    return client;
  };
  const main = await connected("main");
  const call = (client: Client, tool: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name: tool, arguments: args }, undefined, { timeout: WAITS_MS }).catch(() => undefined);
  await call(main, "files__nothing");
  for (const word of ["hello", "again"]) await call(main, "files__echo", { message: text(word) });
  await call(main, "files__is_error", { message: text("There is no such file.") });
  void call(main, "files__count_unsafe", { key: text("please") });
  const meta = await connected("open");
  await call(meta, "mcp_provision", { intent: "weather forecast for a city", autoProvision: true });
  const first = async (path: string) => (await api("GET", path)).body.items[0]?.uuid as string | undefined;
  return {
    approval: await until(() => first("/approvals"), { what: "the call that waits" }),
    request: await until(() => first("/provision-requests"), { what: "the request for a server" }),
  };
}
