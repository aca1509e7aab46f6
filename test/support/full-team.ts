/** A gateway with data for every page of the console. A test can change all its names and texts. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { fakeNpx, fakeRegistry, npmEntry } from "./registry.ts";
import { atEnd } from "./shared.ts";
import type { TeamGateway } from "./team-gateway.ts";
import { teamProcess } from "./team-process.ts";
import { fixture, temp } from "./temp.ts";
import { until } from "./until.ts";

/** Functions that turn the ordinary names and texts into those of a test. */
export interface TextVariant {
  /** Names of servers, namespaces and keys: up to 128 characters, without control characters, `/` and `:`. */
  name(plain: string): string;
  /** All other texts. */
  text(plain: string): string;
}

/** A call that waits for approval must wait longer than any test takes. */
const CALL_TIMEOUT_MS = 600_000;

const PLAIN: TextVariant = { name: (plain) => plain, text: (plain) => plain };

export interface FullTeam {
  readonly gateway: TeamGateway;
  /** Uuids and numbers of objects that can be opened. */
  readonly ids: Readonly<
    Record<
      "files" | "broken" | "namespace" | "endpoint" | "key" | "person" | "call" | "approval" | "request",
      string
    >
  >;
  /**
   * A server whose tools have texts of the variant: one tool that can be called, and one that changed after
   * its approval.
   */
  readonly special: { readonly server: string; readonly tool: string; readonly changed: string };
}

export async function fullTeam(variant: TextVariant = PLAIN): Promise<FullTeam> {
  const { name, text } = variant;
  const folder = temp();
  const list = (...tools: readonly object[]) => folder.write("tools.json", JSON.stringify(tools));
  const toolName = (plain: string) => text(plain).slice(0, 200);
  const specialTool = (plain: string, description: string) => ({
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
  const see = specialTool("see", "Sees what is there.");
  list(see, specialTool("look", "Looks around."));
  const registry = await fakeRegistry([
    npmEntry("io.github.fixture/weather", text("Weather forecasts for any city in the world.")),
  ]);
  const gateway = await teamProcess(folder, {
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
  const create = async (path: string, body: object): Promise<string> => (await post(path, body)).uuid;
  const server = (plain: string, body: object) =>
    create("/mcp-servers", { name: name(plain), description: text(`What ${plain} is for.`), ...body });
  const files = await server("files", { ...fixture("--stderr", text("ready")), labels: [text("docs")] });
  const look = await server("looks", fixture("--tools-file", folder.path("tools.json")));
  const ends = `console.error(${JSON.stringify(text("no token"))}); process.exit(3)`;
  const broken = await server("broken", { command: process.execPath, args: ["-e", ends] });
  const off = await server("resting", { url: "https://example.org/mcp", disabled: true });
  const namespace = await create("/namespaces", {
    name: name("team"),
    description: text("What everybody may use."),
    servers: [{ server: files, prefix: "files" }, ...[look, broken, off].map((one) => ({ server: one }))],
    tools: [{ server: files, tool: "add", title: text("Add up"), description: text("Adds, and says so.") }],
  });
  await create("/namespaces", { name: name("nobody") });
  const rules = [{ effect: "approve", tools: ["*:count_unsafe"] }];
  const endpoint = await create("/endpoints", {
    name: "main",
    description: text("For all of us."),
    namespaces: [namespace],
    surface: "aggregate",
    middleware: [{ use: "policy", default: "allow", rules }],
  });
  await create("/endpoints", { name: "open", namespaces: [namespace], access: { public: true } });
  for (const one of [files, look, broken]) await api("POST", `/mcp-servers/${one}/connect`);
  // Texts with hidden characters are blocked at first sight.
  const { version } = (await api("GET", `/mcp-servers/${look}/changes`)).body;
  await api("POST", `/mcp-servers/${look}/changes/approve`, { version });
  list(see, specialTool("look", "Looks around, and tells everybody."));
  await api("POST", `/mcp-servers/${look}/connect`);
  const person = await create("/users", {
    email: "bob@example.org",
    role: "member",
    groups: [text("accounting").slice(0, 100).trim()],
  });
  const key = await post("/api-keys", {
    name: name("laptop"),
    description: text("Of the laptop in the kitchen.").slice(0, 2_000),
    endpoints: "all",
  });
  const { approval, request } = await traffic(gateway, key.key, variant);
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
    special: { server: look, tool: toolName("see"), changed: toolName("look") },
  };
}

/** Connects clients that make calls, fail, wait for approval and request a server. They stay connected. */
async function traffic(
  { url, api }: TeamGateway,
  key: string,
  { text }: TextVariant,
): Promise<{ readonly approval: string; readonly request: string }> {
  const connected = async (endpoint: string) => {
    const client = new Client({ name: text("example-client"), version: text("1.0.0") });
    const at = new URL(`${url}/metamcp/${endpoint}/mcp`);
    const requestInit = { headers: { "x-api-key": key } };
    await client.connect(new StreamableHTTPClientTransport(at, { requestInit }) as never);
    atEnd(() => client.close());
    return client;
  };
  const main = await connected("main");
  const call = (client: Client, tool: string, args: Record<string, unknown> = {}) =>
    client
      .callTool({ name: tool, arguments: args }, undefined, { timeout: CALL_TIMEOUT_MS })
      .catch(() => undefined);
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
