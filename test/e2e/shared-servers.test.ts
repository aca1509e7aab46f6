/** Official clients with different capabilities and roots that share official servers over HTTP. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as StreamableV2,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { metamcp } from "../support/command.ts";
import { type HttpGateway, httpGateway } from "../support/http-gateway.ts";
import { childrenOf } from "../support/processes.ts";
import { MODEL } from "../support/sdk-clients.ts";
import { ROOT, type Temp, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const server = (name: string): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [join(ROOT, "node_modules/@modelcontextprotocol", name, "dist/index.js")],
});

interface Called {
  readonly content: readonly { readonly text?: string }[];
}
const textOf = (result: unknown): string => (result as Called).content.map(({ text }) => text).join("\n");
const call = async (client: Client, of: string, tool: string, args: object = {}): Promise<string> =>
  textOf(await client.callTool({ name: "mcp_call", arguments: { server: of, tool, args } }));

async function connect({ url }: HttpGateway, capabilities: object, roots?: () => string): Promise<Client> {
  const client = new Client({ name: "shared", version: "1.0.0" }, { capabilities });
  if ("sampling" in capabilities) client.setRequestHandler(CreateMessageRequestSchema, () => MODEL);
  if (roots)
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: `file://${roots()}` }] }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
  onTestFinished(() => client.close());
  return client;
}

function folders(folder: Temp): { proj: string; bad: string; other: string } {
  const [proj = "", bad = "", other = ""] = ["proj", "bad", "other"].map((name) => folder.path(name));
  for (const each of [proj, bad, other]) mkdirSync(each);
  return { proj, bad, other };
}

test("a client sees the tools for its own capabilities, independent of earlier clients and of pinning", async () => {
  const folder = temp();
  folder.writeConfig({ everything: server("server-everything") });
  for (const flags of [[], ["--pin"]]) {
    const gateway = await httpGateway(folder, ...flags);
    const plain = await connect(gateway, {});
    const able = await connect(gateway, { sampling: {}, elicitation: {}, roots: {} }, () => "/somewhere");
    const discover = async (client: Client): Promise<unknown> => {
      const wanted = { server: "everything", limit: 100 };
      const found = textOf(await client.callTool({ name: "mcp_discover", arguments: wanted }));
      expect(found).not.toContain("quarantined");
      return (JSON.parse(found) as { tools: { tool: string }[] }).tools.map(({ tool }) => tool);
    };
    expect(await discover(plain)).not.toContain("trigger-sampling-request");
    expect(await call(able, "everything", "trigger-sampling-request", { prompt: "how much?" })).toContain(
      "forty-two",
    );
    expect(await call(able, "everything", "get-roots-list")).toContain("/somewhere");
    expect(await discover(able)).toContain("trigger-sampling-request");
    expect(await discover(plain)).not.toContain("trigger-sampling-request");
    expect(await call(plain, "everything", "trigger-sampling-request", { prompt: "x" })).toContain(
      "has no tool",
    );
    await gateway.stop();
  }
  const { out } = await metamcp(folder, ["approve", "everything"]);
  // No tool waits for approval; one has a sign that blocks nothing.
  expect(out.split("\n").filter((line) => /^\S/.test(line))).toEqual(["get-env", "Nothing was approved."]);
});

test("the auto surface starts each server once, although it counts tools before the client can answer its roots", async () => {
  const folder = temp();
  const files = server("server-filesystem");
  folder.writeConfig({ files, memory: server("server-memory"), many: server("server-everything") });
  const gateway = await httpGateway(folder, "--surface", "auto");
  const { proj } = folders(folder);
  const client = await connect(gateway, { roots: { listChanged: true } }, () => proj);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("mcp_call");
  expect(await call(client, "files", "list_allowed_directories")).toContain(proj);
  expect(await call(client, "memory", "read_graph")).toContain("entities");
  expect(await call(client, "many", "echo", { message: "hello" })).toContain("hello");
  expect(childrenOf(gateway.pid)).toHaveLength(3);
});

test("roots never reach another client's server, and a changed root takes effect without a restart", async () => {
  const folder = temp();
  folder.writeConfig({ files: server("server-filesystem") });
  const { proj, bad, other } = folders(folder);
  const gateway = await httpGateway(folder);
  const roots = { roots: { listChanged: true } };
  let where = proj;
  const a = await connect(gateway, roots, () => where);
  const b = await connect(gateway, roots, () => bad);
  const alsoB = await connect(gateway, roots, () => bad);
  const allowed = (client: Client): Promise<string> => call(client, "files", "list_allowed_directories");

  // The server asks for roots asynchronously.
  await until(async () => (await allowed(a)).includes(proj));
  await until(async () => (await allowed(b)).includes(bad));
  await until(async () => (await allowed(alsoB)).includes(bad));
  expect(await allowed(b)).not.toContain(proj);
  expect(await call(b, "files", "write_file", { path: join(bad, "mine"), content: "b" })).toContain(
    "Success",
  );
  expect(await call(b, "files", "list_directory", { path: proj })).toContain("denied");
  expect(await allowed(alsoB)).toBe(await allowed(b));
  const processes = childrenOf(gateway.pid).length;

  // The client is alone on its connection, so the server is notified on the same process.
  where = other;
  await a.sendRootsListChanged();
  await until(async () => (await allowed(a)).includes(other));
  expect(await allowed(a)).not.toContain(proj);
  expect(childrenOf(gateway.pid).length).toBe(processes);

  // The client moves to the connection with those roots. The other clients keep theirs.
  where = bad;
  await a.sendRootsListChanged();
  await until(async () => (await allowed(a)).includes(bad));
  where = proj;
  await a.sendRootsListChanged();
  await until(async () => (await allowed(a)).includes(proj));
  expect(await allowed(a)).not.toContain(bad);
  expect(await allowed(b)).toContain(bad);
  expect(await allowed(b)).not.toContain(proj);
  await gateway.stop();
});

test("clients of era 2026-07-28 do not share roots either", async () => {
  const folder = temp();
  folder.writeConfig({ files: server("server-filesystem") });
  const { proj, bad } = folders(folder);
  const gateway = await httpGateway(folder);
  const of = async (where: string): Promise<ClientV2> => {
    const client = new ClientV2(
      { name: "shared", version: "1.0.0" },
      { capabilities: { roots: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    client.setRequestHandler("roots/list", () => ({ roots: [{ uri: `file://${where}` }] }));
    await client.connect(new StreamableV2(new URL(gateway.url)));
    onTestFinished(() => client.close());
    return client;
  };
  const [a, b] = [await of(proj), await of(bad)];
  const allowed = async (client: ClientV2): Promise<string> =>
    textOf(
      await client.callTool({
        name: "mcp_call",
        arguments: { server: "files", tool: "list_allowed_directories", args: {} },
      }),
    );
  await until(async () => (await allowed(a)).includes(proj));
  await until(async () => (await allowed(b)).includes(bad));
  for (const [client, own, foreign] of [
    [a, proj, bad],
    [b, bad, proj],
  ] as const) {
    expect(await allowed(client)).toContain(own);
    expect(await allowed(client)).not.toContain(foreign);
  }
  await gateway.stop();
});
