/**
 * Nineteen servers from npm behind every surface with every official client: lists and results must equal
 * those of a direct connection. Needs the npm registry and a gigabyte, so it runs only if METAMCP_REAL names
 * a folder to install them in.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { beforeAll, describe, expect, test } from "vitest";
import { networkEnv } from "../support/install.ts";
import { connect, SDKS, type SdkClient, type ToolResult } from "../support/sdk-clients.ts";
import { ROOT, type Temp, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

interface Package {
  readonly name: string;
  readonly package: string;
  readonly version: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}
type Args = Readonly<Record<string, unknown>>;

const FOLDER = process.env["METAMCP_REAL"];
const PACKAGES = JSON.parse(
  readFileSync(join(ROOT, "test/golden-retrieval/servers.json"), "utf8"),
) as readonly Package[];

/**
 * One call per server that needs neither an account nor the network. If it needs one, the server's error is
 * the answer.
 */
const CALLS: Readonly<Record<string, readonly [tool: string, args: Args]>> = {
  everything: ["echo", { message: "hello" }],
  filesystem: ["list_allowed_directories", {}],
  memory: ["read_graph", {}],
  "sequential-thinking": [
    "sequentialthinking",
    { thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
  ],
  github: ["search_repositories", { query: "mcp" }],
  gitlab: ["search_repositories", { search: "mcp" }],
  slack: ["slack_list_channels", {}],
  "google-maps": ["maps_geocode", { address: "Berlin" }],
  pdf: ["list_pdfs", {}],
  playwright: ["browser_tabs", { action: "list" }],
  "chrome-devtools": ["list_pages", {}],
  notion: ["API-get-self", {}],
  mongodb: ["list-knowledge-sources", {}],
  chart: ["generate_pie_chart", { data: [{ category: "a", value: 1 }] }],
  tavily: ["tavily_search", { query: "mcp" }],
  context7: ["resolve-library-id", { query: "react", libraryName: "react" }],
  eslint: ["lint-files", { filePaths: ["/nowhere.js"] }],
  firecrawl: ["firecrawl_scrape", { url: "https://example.org" }],
  kubernetes: ["kubectl_context", { operation: "list" }],
};

/** The list and the answer of a server to a client that is connected directly. */
interface Direct {
  readonly tools: readonly string[];
  readonly called: ToolResult;
}
const direct = new Map<string, Direct>();

function entryOf({ package: name, args = [], env = {} }: Package, folder: Temp) {
  const home = join(FOLDER ?? "", "node_modules", name);
  const { bin } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as {
    bin: string | Record<string, string>;
  };
  const script = typeof bin === "string" ? bin : (Object.values(bin)[0] as string);
  return { command: process.execPath, args: [join(home, script), ...args], env, cwd: folder.path(".") };
}

function setUp(): Temp {
  const folder = temp();
  folder.writeConfig(
    Object.fromEntries(PACKAGES.map((one) => [one.name, entryOf(one, folder)])),
    // The same limit as for a direct client.
    { maxResultBytes: 1 << 24 },
  );
  return folder;
}

async function callDirectly(one: Package, folder: Temp): Promise<Direct> {
  const { env, ...entry } = entryOf(one, folder);
  const client = new Client(
    { name: "matrix", version: "1.0.0" },
    { capabilities: { elicitation: {}, sampling: {}, roots: {} } },
  );
  await client.connect(new StdioClientTransport({ ...entry, env: { ...env }, stderr: "ignore" }));
  const { tools } = await client.listTools();
  const [name, args] = CALLS[one.name] as readonly [string, Args];
  const called = await asResult(client.callTool({ name, arguments: args }) as Promise<ToolResult>);
  await client.close();
  return { tools: tools.map((tool) => tool.name).sort(), called };
}

/** Turns a protocol error into a result, because some surfaces do that so that models can read it. */
async function asResult(called: Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await called;
  } catch (error) {
    return { isError: true, content: [{ type: "text", text: (error as Error).message }] };
  }
}

/** Compares the parts of an answer that are the same each time. Ports, times and stacks differ. */
function expectSame(called: ToolResult, own: ToolResult, what: string): void {
  const text = normalized(own.content[0]?.text);
  expect.soft(called.isError ?? false, what).toBe(own.isError ?? false);
  // The metatools surface returns structured content instead of the text.
  if ("structuredContent" in own && called.content[0]?.text?.startsWith('{"structured":')) return;
  expect.soft(called.content.map((one) => normalized(one.text)).join(), what).toContain(text.slice(0, 12));
}

/** JSON may be formatted differently, and surfaces word error codes differently. */
function normalized(text = ""): string {
  return text.replaceAll(/MCP error -?\d+: |\s/g, "");
}

/** Servers that start slowly appear in a later list. */
async function allListed(client: SdkClient): Promise<boolean> {
  const listed = new Set(await client.tools());
  return PACKAGES.every(({ name }) =>
    direct.get(name)?.tools.every((tool) => listed.has(`${name}__${tool}`)),
  );
}

/** How each surface calls a tool. */
const CALL_ON: Readonly<
  Record<string, (client: SdkClient, server: string, tool: string, args: Args) => Promise<ToolResult>>
> = {
  meta: (client, server, tool, args) => client.call("mcp_call", { server, tool, args }),
  metatools: (client, server, tool, args) => client.call("run_tool", { tool_id: `${server}:${tool}`, args }),
  aggregate: (client, server, tool, args) => client.call(`${server}__${tool}`, args),
  auto: (client, server, tool, args) => client.call("mcp_call", { server, tool, args }),
};

describe.skipIf(FOLDER === undefined)(
  "nineteen real servers (left out without METAMCP_REAL=FOLDER)",
  { timeout: 600_000 },
  () => {
    beforeAll(async () => {
      const folder = FOLDER as string;
      if (!existsSync(join(folder, "node_modules"))) {
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, "package.json"), "{}");
        const packages = PACKAGES.map((one) => `${one.package}@${one.version}`);
        execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages], {
          cwd: folder,
          env: { ...process.env, ...networkEnv() },
        });
      }
    }, 900_000);

    test("answer a direct client", async () => {
      const folder = temp();
      for (const one of PACKAGES) direct.set(one.name, await callDirectly(one, folder));
      expect(direct.size).toBe(PACKAGES.length);
    });

    describe.each(SDKS)("through %s", (sdk) => {
      test.each(Object.keys(CALL_ON))("answer the same on the %s surface", async (surface) => {
        const client = await connect(sdk, "streamable", setUp(), surface);
        if (surface === "aggregate") await until(() => allListed(client), { within: 60_000 });
        for (const { name } of PACKAGES) {
          const [tool, args] = CALLS[name] as readonly [string, Args];
          const called = await asResult(CALL_ON[surface]?.(client, name, tool, args) as Promise<ToolResult>);
          expectSame(called, (direct.get(name) as Direct).called, `${name}:${tool}`);
        }
        await client.close();
      });
    });
  },
);
