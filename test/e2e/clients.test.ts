/** Official SDK clients over stdio against the built product, in front of the official servers. */
import { join } from "node:path";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { alive, gone, processesWithEnv } from "../support/processes.ts";
import { ROOT, type Temp, temp } from "../support/temp.ts";

interface Called {
  readonly isError?: boolean | undefined;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: number, total: number | undefined) => void;
}

/** The client functions that the tests need, independent of the SDK version. */
interface ConnectedClient {
  readonly pid: number;
  readonly instructions: string;
  list(): Promise<string[]>;
  tool(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<Called>;
  close(): Promise<void>;
}

const info = { name: "end-to-end", version: "1.0.0" };
const capabilities = { elicitation: {}, sampling: {}, roots: { listChanged: true } };
const person = { action: "accept" as const, content: { name: "Ada Lovelace" } };
const model = {
  model: "none",
  role: "assistant" as const,
  content: { type: "text" as const, text: "forty-two" },
};
const rootsOf = (folder: Temp) => ({
  roots: [{ uri: `file://${folder.path("")}`, name: "the work folder" }],
});

function program(folder: Temp) {
  const args = [join(ROOT, "dist/metamcp.js"), "--config", folder.config, "--log-level", "error"];
  return {
    command: process.execPath,
    args,
    cwd: folder.path("."),
    env: { ...folder.env },
    stderr: "ignore" as const,
  };
}

async function connectV1(folder: Temp): Promise<ConnectedClient> {
  const client = new ClientV1(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => person);
  client.setRequestHandler(CreateMessageRequestSchema, () => model);
  client.setRequestHandler(ListRootsRequestSchema, () => rootsOf(folder));
  const transport = new StdioV1(program(folder));
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    pid: transport.pid ?? 0,
    instructions: client.getInstructions() ?? "",
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    async tool(name, args, { signal, onProgress } = {}) {
      return (await client.callTool({ name, arguments: args }, undefined, {
        ...(signal && { signal }),
        ...(onProgress && { onprogress: ({ progress, total }) => onProgress(progress, total) }),
      })) as Called;
    },
    close: () => client.close(),
  };
}

const connectV2 = (mode: "legacy" | "auto") =>
  async function connect(folder: Temp): Promise<ConnectedClient> {
    const client = new ClientV2(info, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler("elicitation/create", () => person);
    client.setRequestHandler("sampling/createMessage", () => model);
    client.setRequestHandler("roots/list", () => rootsOf(folder));
    const transport = new StdioV2(program(folder));
    await client.connect(transport);
    onTestFinished(() => client.close());
    return {
      pid: transport.pid ?? 0,
      instructions: client.getInstructions() ?? "",
      list: async () => (await client.listTools()).tools.map(({ name }) => name),
      async tool(name, args, { signal, onProgress } = {}) {
        return (await client.callTool(
          { name, arguments: args },
          {
            ...(signal && { signal }),
            ...(onProgress && { onprogress: ({ progress, total }) => onProgress(progress, total) }),
          },
        )) as Called;
      },
      close: () => client.close(),
    };
  };

function official(name: string, ...args: string[]) {
  const script = join(ROOT, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
  return { command: process.execPath, args: [script, ...args] };
}

function setUp(): Temp {
  const folder = temp();
  folder.write("hello.txt", "hello from a file");
  folder.writeConfig({
    everything: official("everything"),
    filesystem: official("filesystem", folder.path(".")),
    memory: { ...official("memory"), env: { MEMORY_FILE_PATH: folder.path("memory.jsonl") } },
  });
  return folder;
}

const textOf = ({ content }: Called): string => content.map(({ text }) => text ?? "").join("\n");
const call = (
  client: ConnectedClient,
  server: string,
  tool: string,
  args: object = {},
  options?: CallOptions,
) => client.tool("mcp_call", { server, tool, args }, options);

describe.each([
  ["SDK v1", connectV1],
  ["SDK v2", connectV2("legacy")],
  ["SDK v2 that looks for the newest protocol first", connectV2("auto")],
])("%s", (_name, connect) => {
  test("finds and calls tools, and leaves no process behind after closing", async () => {
    const folder = setUp();
    const client = await connect(folder);
    expect(client.instructions).toMatch(/everything, filesystem, memory/);
    expect((await client.list()).slice(0, 3)).toEqual(["mcp_discover", "mcp_provision", "mcp_call"]);

    const { servers } = JSON.parse(textOf(await client.tool("mcp_discover", {}))) as {
      servers: { name: string; toolCount: number }[];
    };
    expect(servers.map(({ name }) => name)).toEqual(["everything", "filesystem", "memory"]);
    expect(servers.every(({ toolCount }) => toolCount > 5)).toBe(true);
    const hits = JSON.parse(textOf(await client.tool("mcp_discover", { query: "read a text file" }))) as {
      tools: { tool: string; server: string }[];
    };
    expect(hits.tools[0]).toMatchObject({ server: "filesystem", tool: expect.stringMatching(/^read_/) });

    expect(textOf(await call(client, "everything", "get-sum", { a: 20, b: 22 }))).toMatch(/\b42\b/);
    const path = folder.path("hello.txt");
    expect(textOf(await call(client, "filesystem", "read_text_file", { path }))).toBe("hello from a file");
    const entities = [{ name: "Ada", entityType: "person", observations: ["wrote the first program"] }];
    await call(client, "memory", "create_entities", { entities });
    expect(textOf(await call(client, "memory", "search_nodes", { query: "program" }))).toContain("Ada");
    const structured = await call(client, "everything", "get-structured-content", { location: "Chicago" });
    expect(structured.structuredContent).toMatchObject({ temperature: expect.any(Number) });
    const image = await call(client, "everything", "get-tiny-image");
    expect(image.content.map(({ type }) => type)).toContain("image");

    const wrong = await call(client, "everything", "get-sum", { a: "x" });
    expect(wrong).toMatchObject({
      isError: true,
      structuredContent: { error: { code: "validation_input" } },
    });

    const started = processesWithEnv("METAMCP_CHILD", `.${client.pid}.`);
    expect(started.length).toBeGreaterThanOrEqual(3);
    await client.close();
    await gone([client.pid, ...started]);
  });

  test("receives progress, answers elicitation, sampling and roots requests, and can cancel a call", async () => {
    const folder = setUp();
    const client = await connect(folder);
    const seen: string[] = [];
    await call(
      client,
      "everything",
      "trigger-long-running-operation",
      { duration: 1, steps: 3 },
      {
        onProgress: (progress, total) => seen.push(`${progress}/${total}`),
      },
    );
    // An SDK drops progress that arrives together with the result, and sends progress requests of its own for
    // elicitations.
    const steps = seen.filter((step) => step.endsWith("/3"));
    expect(steps.length).toBeGreaterThan(0);
    expect(steps).toEqual(["1/3", "2/3", "3/3"].slice(0, steps.length));

    expect(textOf(await call(client, "everything", "trigger-elicitation-request"))).toContain("Ada Lovelace");
    expect(textOf(await call(client, "everything", "trigger-sampling-request", { prompt: "?" }))).toContain(
      "forty-two",
    );
    expect(textOf(await call(client, "everything", "get-roots-list"))).toContain("the work folder");

    const abort = new AbortController();
    const long = call(
      client,
      "everything",
      "trigger-long-running-operation",
      { duration: 120, steps: 1_200 },
      {
        signal: abort.signal,
        onProgress: () => abort.abort(),
      },
    );
    await expect(long).rejects.toThrow();
    expect(textOf(await call(client, "everything", "echo", { message: "goes on" }))).toContain("goes on");
    expect(alive(client.pid)).toBe(true);
    await client.close();
  });
});
