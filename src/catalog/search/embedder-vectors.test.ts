import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Temp, temp } from "../../../test/support/temp.ts";
import { until } from "../../../test/support/until.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { type Log, silentLog } from "../../kernel/log.ts";
import { toRaw } from "../../kernel/raw.ts";
import type { Tool } from "../tool.ts";
import { setUpSearch } from "./set-up.ts";
import type { SearchStrategy } from "./strategy.ts";

interface EmbedRequest {
  readonly path: string | undefined;
  readonly key: string | undefined;
  readonly input: readonly string[];
}

/** A real HTTP endpoint with replaceable responses. By default "quokka" and "rename" get the same vector. */
async function endpoint() {
  const requests: EmbedRequest[] = [];
  const state = { respond: sendVectors };
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      const { input } = JSON.parse(body) as { input: string[] };
      requests.push({ path: request.url, key: request.headers.authorization, input });
      state.respond(response, input);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { requests, state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function sendVectors(response: ServerResponse, input: readonly string[]): void {
  const embed = (text: string): number[] => (/quokka|rename/i.test(text) ? [1, 0.1, 0] : [0.1, 0.2, 1]);
  send(response, { data: input.map((text, index) => ({ index, embedding: embed(text) })) });
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function tool(name: string, description: string): Tool {
  const raw = toRaw({ type: "object" });
  return {
    server: "files",
    name,
    title: undefined,
    description,
    annotations: {},
    definition: raw,
    inputSchema: raw,
  };
}

const TOOLS = [
  tool("rename", "Give it another name."),
  tool("erase", "Make it go away."),
  tool("weigh", "Say how heavy it is."),
  tool("paint", "Give it a colour."),
];

function start(
  url: string,
  folder: Temp,
  { clock = new ManualClock(), log = silentLog as Log, key = "sk-very-secret" } = {},
): SearchStrategy {
  const embedder = { url, model: "small", key };
  const search = setUpSearch({ embedder, home: folder.home, clock, log });
  search.update("files", TOOLS);
  return search;
}

/** The best hit for a word that no tool has, so only the embedder's vectors find anything. */
const first = async (search: SearchStrategy): Promise<string | undefined> =>
  (await search.search("quokka", { limit: 4 }))[0]?.name;

const untilEmbedded = async (search: SearchStrategy): Promise<void> => {
  await until(async () => (await first(search)) === "rename", { what: "a hit by the embedder's vectors" });
};

test("ranks by the embedder's vectors and sends the key only to its endpoint", async () => {
  const { requests, url } = await endpoint();
  await untilEmbedded(start(url, temp()));
  expect(new Set(requests.map(({ path }) => path))).toEqual(new Set(["/v1/embeddings"]));
  expect(new Set(requests.map(({ key }) => key))).toEqual(new Set(["Bearer sk-very-secret"]));
});

test("caches vectors on disk and embeds each tool only once; a broken cache file is ignored", async () => {
  const { requests, url } = await endpoint();
  const folder = temp();
  await untilEmbedded(start(url, folder));
  const [file] = readdirSync(join(folder.home, "cache", "embeddings"));
  expect(readFileSync(join(folder.home, "cache", "embeddings", file ?? "")).toString("latin1")).not.toContain(
    "secret",
  );

  requests.length = 0;
  await untilEmbedded(start(url, folder));
  expect(requests.flatMap(({ input }) => input).filter((text) => text !== "quokka")).toEqual([]);

  writeFileSync(join(folder.home, "cache", "embeddings", file ?? ""), "MCPVECT1 broken");
  await untilEmbedded(start(url, folder));
  expect(requests.flatMap(({ input }) => input).filter((text) => text !== "quokka")).toHaveLength(
    TOOLS.length,
  );
});

test("embeds tools that are added later", async () => {
  const { url } = await endpoint();
  const search = start(url, temp());
  await untilEmbedded(search);
  search.update("more", [tool("quokka_feeder", "Feeds.")]);
  await until(async () => (await first(search)) === "quokka_feeder");
});

const BROKEN_RESPONSES: Record<string, (response: ServerResponse, input: readonly string[]) => void> = {
  "an error": (response) => send(response, { error: "no" }, 500),
  "no JSON": (response) => response.end("<html>"),
  null: (response) => send(response, null),
  "too few vectors": (response) => send(response, { data: [] }),
  "strings in place of numbers": (response, input) =>
    send(response, { data: input.map(() => ({ embedding: ["a", "b"] })) }),
  "vectors of zeros": (response, input) => send(response, { data: input.map(() => ({ embedding: [0, 0] })) }),
  "vectors of different lengths": (response, input) =>
    send(response, { data: input.map((_, i) => ({ embedding: Array(i + 1).fill(1) })) }),
  "indexes out of range": (response, input) =>
    send(response, { data: input.map(() => ({ index: 99, embedding: [1, 0] })) }),
  "a broken connection": (response) => response.destroy(),
};

test.each(Object.keys(BROKEN_RESPONSES))(
  "uses the built-in vectors if the embedder sends %s, logs a warning and pauses requests",
  async (kind) => {
    const { state, requests, url } = await endpoint();
    state.respond = BROKEN_RESPONSES[kind] as typeof sendVectors;
    const warnings: unknown[] = [];
    const log: Log = { ...silentLog, warn: (message, fields) => warnings.push([message, fields]) };
    const search = start(url, temp(), { log });

    expect((await search.search("rename it", { limit: 1 }))[0]?.name).toBe("rename");
    await until(() => warnings.length > 0);
    const calls = requests.length;
    expect((await search.search("paint it", { limit: 1 }))[0]?.name).toBe("paint");
    expect(requests.length).toBe(calls);
    expect(JSON.stringify(warnings)).not.toContain("secret");
  },
);

test("sends no requests to a failing embedder during the cooldown, then tries again", async () => {
  const { state, url } = await endpoint();
  state.respond = BROKEN_RESPONSES["an error"] as typeof sendVectors;
  const clock = new ManualClock();
  const search = start(url, temp(), { clock });
  expect(await first(search)).toBeUndefined();

  state.respond = sendVectors;
  expect(await first(search)).toBeUndefined();
  await until(async () => {
    clock.advance(31_000);
    return (await first(search)) === "rename";
  });
});

test("uses the built-in vectors if the embedder does not respond in time", async () => {
  const { state, requests, url } = await endpoint();
  const clock = new ManualClock();
  const search = start(url, temp(), { clock });
  await untilEmbedded(search);
  state.respond = () => {};
  const calls = requests.length;
  const hits = search.search("paint the wall", { limit: 1 });
  await until(() => requests.length > calls);
  clock.advance(2_000);
  expect((await hits)[0]?.name).toBe("paint");
});

test("does not follow redirects of the embedder", async () => {
  const other = await endpoint();
  const { state, url } = await endpoint();
  state.respond = (response) => response.writeHead(307, { location: `${other.url}/embeddings` }).end();
  expect((await start(url, temp()).search("paint it", { limit: 1 }))[0]?.name).toBe("paint");
  expect(other.requests).toEqual([]);
});

test.each([
  ["a key with a line break", "http://127.0.0.1:1/v1", "sk-very\nsecret"],
  ["a key with a character that headers cannot have", "http://127.0.0.1:1/v1", "sk-very’secret"],
  ["an address with credentials", "http://me:secret@127.0.0.1:1/v1?key=secret", "sk"],
])("logs no secret for %s", async (_, url, key) => {
  const warnings: unknown[] = [];
  const log: Log = { ...silentLog, warn: (message, fields) => warnings.push([message, fields]) };
  const search = start(url, temp(), { log, key });
  expect((await search.search("paint it", { limit: 1 }))[0]?.name).toBe("paint");
  await until(() => warnings.length > 0);
  expect(JSON.stringify(warnings)).toContain("could not be reached");
  expect(JSON.stringify(warnings)).not.toContain("secret");
});

test("embeds all tools again if the model behind the same name returns vectors of another length", async () => {
  const { state, url } = await endpoint();
  const folder = temp();
  await untilEmbedded(start(url, folder));

  state.respond = (response, input) =>
    send(response, {
      data: input.map((text) => ({ embedding: /quokka|paint/i.test(text) ? [1, 0] : [0, 1] })),
    });
  const clock = new ManualClock();
  const search = start(url, folder, { clock });
  search.update("files", [...TOOLS, tool("other", "Something else.")]);
  await until(async () => {
    clock.advance(31_000);
    return (await first(search)) === "paint";
  });
});

test("ranks by the embedder's vectors even if the cache cannot be written", async () => {
  const { url } = await endpoint();
  const folder = temp();
  mkdirSync(folder.home, { recursive: true });
  writeFileSync(join(folder.home, "cache"), "in the way");
  await untilEmbedded(start(url, folder));
});
