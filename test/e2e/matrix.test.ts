/**
 * Every client transport × every server transport × both eras, through the official clients. All features
 * must work in every combination. `METAMCP_MATRIX=1` runs all combinations. By default each client uses each
 * of its transports, and each behaviour is tested with each child, but not in all combinations.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { connect, type Front, type Sdk, type SdkClient } from "../support/sdk-clients.ts";
import { atEnd, shared } from "../support/shared.ts";
import { type Temp, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const ALL = process.env["METAMCP_MATRIX"] === "1";
const SERVER = fileURLToPath(new URL("../conformance/server.mjs", import.meta.url));

/** How MetaMCP reaches the children. All offer the same items. */
const CHILDREN = ["stdio", "stdio_new", "http", "http_new", "sse"] as const;
type Child = (typeof CHILDREN)[number];

/** The stateless era has no SSE, and its requests are the same with and without `--stateless`. */
const CLIENTS: readonly (readonly [Sdk, Front])[] = [
  ["SDK v1", "stdio"],
  ["SDK v1", "streamable"],
  ["SDK v1", "streamable --stateless"],
  ["SDK v1", "sse"],
  ["SDK v2", "stdio"],
  ["SDK v2", "streamable"],
  ["SDK v2", "streamable --stateless"],
  ["SDK v2", "sse"],
  ["SDK v2, stateless era", "stdio"],
  ["SDK v2, stateless era", "streamable"],
  ["SDK v2, stateless era", "streamable --stateless"],
];

async function remote(era: "legacy" | "2026"): Promise<string> {
  const child = spawn(process.execPath, [SERVER, "--http", "0", "--era", era], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  atEnd(() => void child.kill("SIGKILL"));
  return await new Promise((resolve, reject) => {
    child.stdout.once("data", (line: Buffer) => resolve(line.toString().trim()));
    child.once("exit", (code) => reject(new Error(`the child ended with ${code}`)));
  });
}

/** They keep no state of a client beyond its session, so all clients share them. */
const remotes = shared(async () => await Promise.all([remote("legacy"), remote("2026")]));

function setUp(): Temp {
  const folder = temp();
  const [old, new_] = remotes();
  const local = (era: string) => ({ command: process.execPath, args: [SERVER, "--era", era] });
  const children: Record<Child, object> = {
    stdio: local("legacy"),
    stdio_new: local("2026"),
    http: { type: "http", url: old },
    http_new: { type: "http", url: new_ },
    sse: { type: "sse", url: old.replace(/mcp$/, "sse") },
  };
  folder.writeConfig(children);
  return folder;
}

interface Cell {
  readonly client: SdkClient;
  readonly child: Child;
  /** The public name of a tool or prompt of that child. */
  named(name: string): string;
  /** The client cannot receive requests, because there is no connection from MetaMCP to it. */
  readonly unreachable: boolean;
}

const textOf = ({ content }: { content: readonly { text?: string }[] }): string =>
  content.map(({ text }) => text ?? "").join("\n");

/** All children offer an item with this name. Returns the one at the position of the given child. */
function itemOf<T extends { name: string }>(child: Child, name: string, list: readonly T[]): T {
  const found = list.filter((entry) => entry.name === name);
  expect(found).toHaveLength(CHILDREN.length);
  return found[CHILDREN.indexOf(child)] as T;
}

/**
 * Expects that the child's question is answered in the result of the tool, or that the result says why the
 * client could not be asked.
 */
async function expectAnswered(
  { client, named, unreachable }: Cell,
  tool: string,
  answer: RegExp,
  args = {},
): Promise<void> {
  const called = client.call(named(tool), args).then(textOf, String);
  expect(await called).toMatch(unreachable ? /cannot be asked|did not declare/ : answer);
}

const BEHAVIOURS: Readonly<Record<string, (cell: Cell) => Promise<void>>> = {
  async list({ client, named }) {
    expect(await client.tools()).toContain(named("test_simple_text"));
  },
  async call({ client, named }) {
    const text = textOf(await client.call(named("test_simple_text")));
    expect(text).toBe("This is a simple text response for testing.");
    const { content } = await client.call(named("test_multiple_content_types"));
    expect(content.map(({ type }) => type)).toEqual(["text", "image", "resource"]);
  },
  async progress({ client, named }) {
    const seen: number[] = [];
    const run = () =>
      client.call(named("test_tool_with_progress"), {}, { onprogress: (p) => seen.push(p.progress) });
    // An SDK drops progress that arrives together with the result. On a busy machine that may be all of it.
    await until(async () => (await run()) && seen.length > 0, { what: "progress" });
    expect(seen).toEqual([0, 50, 100].slice(0, seen.length));
  },
  async cancellation({ client, named, unreachable }) {
    // Without a session a cancellation cannot be matched to a request.
    if (unreachable) return;
    const stops = async (): Promise<number> => Number(textOf(await client.call(named("test_count_stops"))));
    const before = await stops();
    const abort = new AbortController();
    const long = client.call(
      named("test_waits_to_be_stopped"),
      {},
      { signal: abort.signal, onprogress: () => abort.abort() },
    );
    await expect(long).rejects.toThrow();
    await until(async () => (await stops()) === before + 1, { what: "that the child was told" });
  },
  elicitation: (cell) =>
    expectAnswered(cell, "test_elicitation", /action=accept.*ada@example.org/, { message: "Who?" }),
  sampling: (cell) => expectAnswered(cell, "test_sampling", /LLM response: forty-two/, { prompt: "?" }),
  roots: (cell) => expectAnswered(cell, "test_input_required_result_list_roots", /Roots: file:\/\/\/matrix/),
  async resources({ client, child }) {
    const { uri } = itemOf(child, "static-text", await client.resources());
    expect((await client.read(uri))[0]?.text).toBe("This is the content of the static text resource.");
    const { uriTemplate } = itemOf(child, "template", await client.templates());
    const [data] = await client.read(uriTemplate.replace("{id}", "7"));
    expect(JSON.parse(data?.text ?? "{}")).toMatchObject({ id: "7" });
  },
  async prompts({ client, named }) {
    const name = named("test_prompt_with_arguments");
    expect(await client.prompts()).toContain(name);
    const [message] = await client.prompt(name, { arg1: "one", arg2: "two" });
    expect(message?.content.text).toBe("Prompt with arguments: arg1='one', arg2='two'");
  },
  async completion({ client, named }) {
    const values = await client.complete(named("test_prompt_with_arguments"), { name: "arg1", value: "par" });
    expect(values).toEqual(["paris", "park"]);
  },
  async logging({ client, named, unreachable }) {
    // Without a session a log level cannot be matched to a client.
    if (unreachable) return;
    await client.wantLogs();
    const before = client.logged.length;
    await client.call(named("test_tool_with_logging"));
    await until(() => client.logged.length >= before + 3, { what: "three messages" });
    expect(client.logged.slice(before)).toEqual([
      "Tool execution started",
      "Tool processing data",
      "Tool execution completed",
    ]);
  },
  async error({ client, named }) {
    const failed = await client.call(named("test_error_handling"));
    expect(failed).toMatchObject({ isError: true });
    expect(textOf(failed)).toBe("This tool intentionally returns an error for testing");
    await expect(client.prompt(named("no_such_prompt"))).rejects.toThrow(/no_such_prompt/);
    await expect(client.read("test://no/such")).rejects.toThrow(/not found/i);
  },
};

/** Waits until all children are in the lists; a slow child appears later. */
async function untilAllListed(client: SdkClient): Promise<void> {
  const all = (found: readonly { name: string }[], name: string): boolean =>
    found.filter((entry) => entry.name === name).length === CHILDREN.length;
  await until(
    async () => {
      const [tools, prompts] = [await client.tools(), await client.prompts()];
      return (
        CHILDREN.every((child) => tools.includes(`${child}__test_simple_text`)) &&
        CHILDREN.every((child) => prompts.includes(`${child}__test_prompt_with_arguments`)) &&
        all(await client.resources(), "static-text") &&
        all(await client.templates(), "template")
      );
    },
    { within: 60_000, what: "all children" },
  );
}

/** A selection in which each client sees each behaviour, and so does each child. */
function combinations(row: number): readonly (readonly [string, Child])[] {
  return Object.keys(BEHAVIOURS).flatMap((behaviour, column) => {
    const children = ALL ? CHILDREN : [CHILDREN[(row + column) % CHILDREN.length] as Child];
    return children.map((child) => [behaviour, child] as const);
  });
}

describe.each(CLIENTS.map(([sdk, front], row) => ({ sdk, front, row })))("$sdk over $front", (kind) => {
  test("can use every feature of its servers", { timeout: 120_000 }, async () => {
    const { sdk, front, row } = kind;
    const client = await connect(sdk, front, setUp());
    await untilAllListed(client);
    const unreachable = front === "streamable --stateless" && sdk !== "SDK v2, stateless era";
    const failures: string[] = [];
    for (const [behaviour, child] of combinations(row)) {
      const cell = { client, child, unreachable, named: (name: string) => `${child}__${name}` };
      await BEHAVIOURS[behaviour]?.(cell).catch((error: Error) => {
        failures.push(`${behaviour} to ${child}: ${error.message}`);
      });
    }
    expect(failures).toEqual([]);
    await client.close();
  });
});
