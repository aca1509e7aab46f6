/** Which protocol extensions of servers clients hear of. */
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { gateway } from "../../support/gateway.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";

const UI = "io.modelcontextprotocol/ui";
const HOST = { extensions: { [UI]: {} } };
const HTML = "text/html;profile=mcp-app";
const OF_HOP = "io.modelcontextprotocol/enterprise-managed-authorization";
const TASKS = "io.modelcontextprotocol/tasks";
/** What the aggregate surface declares itself. */
const SKILLS = { "io.modelcontextprotocol/skills": { directoryRead: true } };

const server = (extensions: object, ...flags: string[]) =>
  fixture("--extensions", JSON.stringify(extensions), ...flags);

/** A folder where the lists of all servers are in the cache. */
async function known(servers: object, more?: Record<string, unknown>): Promise<Temp> {
  const folder = temp();
  folder.writeConfig(servers as Record<string, unknown>, more);
  await metamcp(folder, ["doctor"]);
  return folder;
}

/** What both eras are told. */
async function told(folder: Temp, surface: string, capabilities: object = {}) {
  const legacy = gateway(folder, { flags: ["--surface", surface] });
  const { result } = await legacy.initialize(capabilities);
  const modern = gateway(folder, { flags: ["--surface", surface] });
  const prefix = "io.modelcontextprotocol/";
  const discovered = await modern.request("server/discover", {
    _meta: {
      [`${prefix}protocolVersion`]: "2026-07-28",
      [`${prefix}clientCapabilities`]: capabilities,
    },
  });
  return { legacy, modern, told: [result, discovered.result].map(extensionsIn) };
}

const extensionsIn = (result: unknown) =>
  (result as { capabilities: { extensions?: object } }).capabilities.extensions;

const TWO = {
  one: server({ [UI]: { mimeTypes: [HTML] }, "com.example/own": {}, [OF_HOP]: {} }, "--name", "one"),
  two: server({ [UI]: { mimeTypes: [HTML, "text/x"] }, [TASKS]: { theirs: true } }),
  odd: server([] as never),
};

test("what needs no method of its own is merged; what does, and what is about the connection, is not", async () => {
  const folder = await known(TWO);
  const merged = { [UI]: { mimeTypes: [HTML, "text/x"] } };
  const { told: both } = await told(folder, "aggregate");
  expect(both).toEqual([
    { ...merged, ...SKILLS },
    { ...merged, ...SKILLS, [TASKS]: {} },
  ]);
});

test.each(["meta", "metatools"])("on %s only a host that draws pages hears of MCP Apps", async (surface) => {
  const folder = await known(TWO);
  const ours = surface === "meta" ? { [TASKS]: {} } : {};
  const { told: host } = await told(folder, surface, HOST);
  const ui = { [UI]: { mimeTypes: [HTML, "text/x"] } };
  expect(host).toEqual([ui, { ...ui, ...ours }]);
  const { told: other } = await told(folder, surface);
  expect(other).toEqual([undefined, surface === "meta" ? ours : undefined]);
});

test("those of a single server pass to clients whose other methods reach it", async () => {
  const folder = await known({ one: TWO.one });
  const { told: both, legacy } = await told(folder, "aggregate");
  const ui = { [UI]: { mimeTypes: [HTML] } };
  expect(both).toEqual([
    { ...ui, ...SKILLS, "com.example/own": {} },
    { ...ui, ...SKILLS, [TASKS]: {} },
  ]);
  const { error } = await legacy.request("example/own");
  // As the server says it.
  expect(error).toEqual({ code: -32601, message: "Method not found" });
});

test("a server of which the caller may see nothing tells nothing", async () => {
  const middleware = [{ use: "filter", deny: ["one:*"] }];
  const folder = await known({ one: TWO.one, odd: fixture() }, { middleware });
  const { told: both } = await told(folder, "aggregate");
  expect(both).toEqual([SKILLS, { ...SKILLS, [TASKS]: {} }]);
});
