/**
 * Random layers have the same effect on every surface: aggregate, meta, metatools, chains, code and the HTTP
 * API.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { HEADERS } from "../../support/http-gateway.ts";
import { SURFACES } from "../../support/layered-team.ts";
import { type ModelledLayer, modelledLayers, TOOLS, verdictOf } from "../../support/random-pipeline.ts";
import { type TeamGateway, teamGateway } from "../../support/team-gateway.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";

/** JSON that no serializer would write in this form. */
const UNUSUAL_JSON =
  '{ "n" : 12345678901234567890, "z":-0, "e":1E2 , "t":"\\u00e9\\/ ", "deep":[ [ { } ] ] }';
const UNUSUAL_JSON_BASE64 = Buffer.from(UNUSUAL_JSON, "latin1").toString("base64");
const WORDS: Readonly<Record<string, string>> = { args: "zebra", echo: "yonder", pid: "xylophone" };
const PLACES = ["settings", "endpoint", "namespace", "server"] as const;
type Lists = Readonly<Record<(typeof PLACES)[number], readonly ModelledLayer[]>>;

interface CallItem {
  readonly outcome: string;
  readonly server: { readonly name: string };
  readonly layers: readonly { readonly use: string }[];
}

/** Sends raw texts and returns the answers as raw texts. */
class Sender {
  readonly #headers = new Map<string, Record<string, string>>();
  readonly #gateway: TeamGateway;
  readonly #key: string;

  constructor(gateway: TeamGateway, key: string) {
    this.#gateway = gateway;
    this.#key = key;
  }

  async open(): Promise<void> {
    const capabilities = { protocolVersion: "2025-11-25", capabilities: {} };
    const params = JSON.stringify({ ...capabilities, clientInfo: { name: "t", version: "1" } });
    for (const surface of SURFACES) {
      const headers = { ...HEADERS, "x-api-key": this.#key };
      this.#headers.set(surface, headers);
      const { session } = await this.#post(surface, "initialize", params);
      this.#headers.set(surface, { ...headers, "mcp-session-id": session as string });
    }
  }

  async ask(surface: string, method: string, params = "{}"): Promise<string> {
    return (await this.#post(surface, method, params)).text;
  }

  tool(surface: string, name: string, args: string): Promise<string> {
    return this.ask(surface, "tools/call", `{"name":${JSON.stringify(name)},"arguments":${args}}`);
  }

  async rest(path: string, body?: string): Promise<string> {
    const response = await fetch(`${this.#gateway.url}/metamcp/aggregate/api/${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json", "x-api-key": this.#key },
      ...(body === undefined ? {} : { body }),
    });
    return await response.text();
  }

  async #post(surface: string, method: string, params: string) {
    const response = await fetch(`${this.#gateway.url}/metamcp/${surface}/mcp`, {
      method: "POST",
      headers: this.#headers.get(surface) as Record<string, string>,
      body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`,
    });
    return { text: await response.text(), session: response.headers.get("mcp-session-id") };
  }
}

/** Calls of a tool of the server, from every surface. */
const CALL_ON: Readonly<Record<string, (sender: Sender, tool: string) => Promise<string>>> = {
  aggregate: (sender, tool) => sender.tool("aggregate", `fix__${tool}`, UNUSUAL_JSON),
  meta: (sender, tool) =>
    sender.tool("meta", "mcp_call", `{"server":"fix","tool":"${tool}","args":${UNUSUAL_JSON}}`),
  metatools: (sender, tool) =>
    sender.tool("metatools", "run_tool", `{"tool_id":"fix:${tool}","args":${UNUSUAL_JSON}}`),
  openapi: (sender, tool) => sender.rest(`fix__${tool}`, UNUSUAL_JSON),
  chain: (sender, tool) =>
    sender.tool("metatools", "run_chain", `{"steps":[{"tool_id":"fix:${tool}","args":${UNUSUAL_JSON}}]}`),
  code: (sender, tool) =>
    sender.tool("meta", "mcp_execute", JSON.stringify({ code: `servers.fix.call("${tool}", {})` })),
};
/** Code handles values, not texts. All others forward arguments unchanged. */
const VERBATIM = new Set(["aggregate", "meta", "metatools", "openapi", "chain"]);

/** All answers that list or describe tools, including descriptions of tools that do not exist. */
async function allDescriptions(sender: Sender): Promise<string> {
  const requests = [
    sender.ask("aggregate", "tools/list"),
    sender.tool("meta", "mcp_discover", '{"server":"fix","detail":"schema"}'),
    sender.tool("metatools", "list_tools", "{}"),
    sender.rest("openapi.json"),
    ...TOOLS.flatMap(({ name }) => [
      sender.tool("meta", "mcp_discover", `{"query":"${WORDS[name]}"}`),
      sender.tool("metatools", "search_tools", `{"query":"${WORDS[name]}"}`),
      sender.tool("metatools", "describe_tool", `{"tool_id":"fix:${name}","detail_level":"full"}`),
    ]),
  ];
  return (await Promise.all(requests)).join("\n");
}

/** The suggested names for a name with one wrong letter. */
async function hints(sender: Sender, name: string): Promise<string> {
  const typo = `${name.slice(0, -1)}_`;
  const requests = Object.values(CALL_ON).map((call) => call(sender, typo));
  return (await Promise.all(requests)).join("\n");
}

interface Rule {
  readonly disabled?: boolean;
  readonly name?: string;
}
interface TestConfig {
  readonly lists?: Lists;
  /** Rules by `server:tool`. */
  readonly rules?: Readonly<Record<string, Rule>>;
}

async function teamOf(folder: Temp) {
  const journal = folder.journal();
  const tools = TOOLS.map((tool) => ({
    ...tool,
    description: `Does ${WORDS[tool.name]}.`,
    inputSchema: { type: "object" },
  }));
  const file = folder.write("tools.json", JSON.stringify(tools));
  const gateway = await teamGateway(folder);
  const document = ({ lists, rules = {} }: TestConfig) => {
    const at = (place: (typeof PLACES)[number]) => (lists?.[place] ?? []).map(({ entry }) => entry);
    const server = fixture("--journal", journal.file, "--tools-file", file);
    return {
      version: 1,
      middleware: at("settings"),
      servers: { fix: { ...server, middleware: at("server") } },
      namespaces: { team: { servers: { fix: {} }, tools: rules, middleware: at("namespace") } },
      endpoints: Object.fromEntries(
        SURFACES.map((surface) => [
          surface,
          { namespaces: ["team"], surface, openapi: true, jsonResponse: true, middleware: at("endpoint") },
        ]),
      ),
    };
  };
  /** Returns false if names would collide. */
  const apply = async (config: TestConfig): Promise<boolean> => {
    const { status, body } = await gateway.api("POST", "/config/apply", { document: document(config) });
    if (status !== 200 && status !== 409) throw new Error(JSON.stringify(body));
    return status === 200;
  };
  await apply({});
  const sender = new Sender(gateway, await gateway.key());
  await sender.open();
  const reached = (tool: string) => journal.events("message").filter((event) => event.tool === tool).length;
  return { gateway, apply, sender, reached };
}

test("random layers at all four places hide, refuse or pass a tool in the same way on every surface", {
  timeout: 240_000,
}, async () => {
  const { gateway, apply, sender, reached } = await teamOf(temp());
  const lists = fc.record({
    settings: modelledLayers,
    endpoint: modelledLayers,
    namespace: modelledLayers,
    server: modelledLayers,
  });
  await fc.assert(
    fc.asyncProperty(lists, async (placed) => {
      await apply({ lists: placed });
      const all = PLACES.flatMap((place) => placed[place]);
      const descriptions = await allDescriptions(sender);
      let calls = 0;
      for (const tool of TOOLS) {
        const verdict = verdictOf(all, tool);
        expect(descriptions.includes(WORDS[tool.name] as string), `${tool.name} is known`).toBe(
          verdict !== "hides",
        );
        for (const [way, call] of Object.entries(CALL_ON)) {
          const before = reached(tool.name);
          const answer = await call(sender, tool.name);
          const where = `${tool.name} by ${way}: ${answer.slice(0, 300)}`;
          expect(reached(tool.name) - before, where).toBe(verdict === "passes" ? 1 : 0);
          if (verdict === "refuses") expect(answer, where).toMatch(/forbidden/);
          if (verdict === "hides") expect(answer, where).toMatch(/no tool|not_found|unknown tool/i);
          if (verdict === "passes") calls += 1;
          if (verdict === "passes" && tool.name === "args" && VERBATIM.has(way))
            expect(answer.includes(UNUSUAL_JSON_BASE64) || answer.includes(UNUSUAL_JSON), where).toBe(true);
        }
        // The word "args" appears in our own answers too.
        if (verdict === "hides" && tool.name !== "args")
          expect(await hints(sender, tool.name)).not.toContain(tool.name);
      }
      const { body } = await gateway.api("GET", "/calls?limit=100");
      const passed = (body.items as CallItem[]).filter(
        ({ outcome, server }) => outcome === "ok" && server.name === "fix",
      );
      const order = all.map(({ entry }) => entry.use);
      for (const { layers } of passed.slice(0, calls)) expect(layers.map(({ use }) => use)).toEqual(order);
    }),
    { numRuns: 20 },
  );
});

test("each name calls exactly the tool that has it, and a disabled tool has no name", {
  timeout: 240_000,
}, async () => {
  const { apply, sender, reached } = await teamOf(temp());
  const own = TOOLS.map(({ name }) => name);
  const names = [...own, "alpha"];
  const rule = fc.record({ disabled: fc.boolean(), name: fc.constantFrom(...names) }, { requiredKeys: [] });
  await fc.assert(
    fc.asyncProperty(fc.tuple(rule, rule, rule), async (rules) => {
      const config = Object.fromEntries(own.map((tool, at) => [`fix:${tool}`, rules[at] as Rule]));
      fc.pre(await apply({ rules: config }));
      const toolByName = new Map<string, string>();
      for (const [at, tool] of own.entries()) {
        const { disabled = false, name = tool } = rules[at] as Rule;
        if (!disabled) toolByName.set(name, tool);
      }
      const descriptions = await allDescriptions(sender);
      for (const tool of own)
        expect(descriptions.includes(WORDS[tool] as string), tool).toBe(
          [...toolByName.values()].includes(tool),
        );
      for (const name of names)
        for (const [way, call] of Object.entries(CALL_ON)) {
          const before = own.map(reached);
          const answer = await call(sender, name);
          const after = own.map((tool, at) => reached(tool) - (before[at] as number));
          const where = `${name} by ${way}: ${answer.slice(0, 200)}`;
          expect(after, where).toEqual(own.map((tool) => (toolByName.get(name) === tool ? 1 : 0)));
        }
    }),
    { numRuns: 12 },
  );
});
