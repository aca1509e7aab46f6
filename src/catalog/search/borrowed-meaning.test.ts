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

interface Asked {
  readonly path: string | undefined;
  readonly key: string | undefined;
  readonly input: readonly string[];
}

/** A real endpoint that does as it is told; by default it thinks "quokka" and "rename" are the same. */
async function endpoint() {
  const asked: Asked[] = [];
  const state = { answer: honest };
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      const { input } = JSON.parse(body) as { input: string[] };
      asked.push({ path: request.url, key: request.headers.authorization, input });
      state.answer(response, input);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function honest(response: ServerResponse, input: readonly string[]): void {
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
  place: Temp,
  { clock = new ManualClock(), log = silentLog as Log, key = "sk-very-secret" } = {},
): SearchStrategy {
  const embedder = { url, model: "small", key };
  const search = setUpSearch({ embedder, home: place.home, clock, log });
  search.update("files", TOOLS);
  return search;
}

/** A word that no tool has: only the embedder can know what it means. */
const first = async (search: SearchStrategy): Promise<string | undefined> =>
  (await search.search("quokka", { limit: 4 }))[0]?.name;

const answered = async (search: SearchStrategy): Promise<void> => {
  await until(async () => (await first(search)) === "rename", { what: "an answer from the embedder" });
};

test("ranks by the embedder's vectors and sends the key to it alone", async () => {
  const { asked, url } = await endpoint();
  await answered(start(url, temp()));
  expect(new Set(asked.map(({ path }) => path))).toEqual(new Set(["/v1/embeddings"]));
  expect(new Set(asked.map(({ key }) => key))).toEqual(new Set(["Bearer sk-very-secret"]));
});

test("keeps vectors on disk and asks for the same tool only once", async () => {
  const { asked, url } = await endpoint();
  const place = temp();
  await answered(start(url, place));
  const [file] = readdirSync(join(place.home, "cache", "embeddings"));
  expect(readFileSync(join(place.home, "cache", "embeddings", file ?? "")).toString("latin1")).not.toContain(
    "secret",
  );

  asked.length = 0;
  await answered(start(url, place));
  expect(asked.flatMap(({ input }) => input).filter((text) => text !== "quokka")).toEqual([]);

  writeFileSync(join(place.home, "cache", "embeddings", file ?? ""), "MCPVECT1 broken");
  await answered(start(url, place));
  expect(asked.flatMap(({ input }) => input).filter((text) => text !== "quokka")).toHaveLength(TOOLS.length);
});

test("takes in tools that come later", async () => {
  const { url } = await endpoint();
  const search = start(url, temp());
  await answered(search);
  search.update("more", [tool("quokka_feeder", "Feeds.")]);
  await until(async () => (await first(search)) === "quokka_feeder");
});

const NONSENSE: Record<string, (response: ServerResponse, input: readonly string[]) => void> = {
  "an error": (response) => send(response, { error: "no" }, 500),
  "no JSON": (response) => response.end("<html>"),
  "nothing of use": (response) => send(response, null),
  "too few vectors": (response) => send(response, { data: [] }),
  "words for numbers": (response, input) =>
    send(response, { data: input.map(() => ({ embedding: ["a", "b"] })) }),
  "vectors of zeros": (response, input) => send(response, { data: input.map(() => ({ embedding: [0, 0] })) }),
  "vectors of different lengths": (response, input) =>
    send(response, { data: input.map((_, i) => ({ embedding: Array(i + 1).fill(1) })) }),
  "indexes out of range": (response, input) =>
    send(response, { data: input.map(() => ({ index: 99, embedding: [1, 0] })) }),
  "a broken connection": (response) => response.destroy(),
};

test.each(Object.keys(NONSENSE))(
  "answers by itself when the embedder sends %s, and says so once",
  async (kind) => {
    const { state, asked, url } = await endpoint();
    state.answer = NONSENSE[kind] as typeof honest;
    const warnings: unknown[] = [];
    const log: Log = { ...silentLog, warn: (message, fields) => warnings.push([message, fields]) };
    const search = start(url, temp(), { log });

    expect((await search.search("rename it", { limit: 1 }))[0]?.name).toBe("rename");
    await until(() => warnings.length > 0);
    const calls = asked.length;
    expect((await search.search("paint it", { limit: 1 }))[0]?.name).toBe("paint");
    expect(asked.length).toBe(calls);
    expect(JSON.stringify(warnings)).not.toContain("secret");
  },
);

test("leaves a failing embedder alone for a while, then tries again", async () => {
  const { state, url } = await endpoint();
  state.answer = NONSENSE["an error"] as typeof honest;
  const clock = new ManualClock();
  const search = start(url, temp(), { clock });
  expect(await first(search)).toBeUndefined();

  state.answer = honest;
  expect(await first(search)).toBeUndefined();
  await until(async () => {
    clock.advance(31_000);
    return (await first(search)) === "rename";
  });
});

test("answers by itself when the embedder stalls", async () => {
  const { state, asked, url } = await endpoint();
  const clock = new ManualClock();
  const search = start(url, temp(), { clock });
  await answered(search);
  state.answer = () => {};
  const calls = asked.length;
  const hits = search.search("paint the wall", { limit: 1 });
  await until(() => asked.length > calls);
  clock.advance(2_000);
  expect((await hits)[0]?.name).toBe("paint");
});

test("does not follow the embedder elsewhere", async () => {
  const other = await endpoint();
  const { state, url } = await endpoint();
  state.answer = (response) => response.writeHead(307, { location: `${other.url}/embeddings` }).end();
  expect((await start(url, temp()).search("paint it", { limit: 1 }))[0]?.name).toBe("paint");
  expect(other.asked).toEqual([]);
});

test.each([
  ["a key that breaks off", "http://127.0.0.1:1/v1", "sk-very\nsecret"],
  ["a key that cannot be sent", "http://127.0.0.1:1/v1", "sk-very’secret"],
  ["an address with credentials", "http://me:secret@127.0.0.1:1/v1?key=secret", "sk"],
])("says nothing secret about %s", async (_, url, key) => {
  const warnings: unknown[] = [];
  const log: Log = { ...silentLog, warn: (message, fields) => warnings.push([message, fields]) };
  const search = start(url, temp(), { log, key });
  expect((await search.search("paint it", { limit: 1 }))[0]?.name).toBe("paint");
  await until(() => warnings.length > 0);
  expect(JSON.stringify(warnings)).toContain("could not be reached");
  expect(JSON.stringify(warnings)).not.toContain("secret");
});

test("takes another model behind the same name for what it is", async () => {
  const { state, url } = await endpoint();
  const place = temp();
  await answered(start(url, place));

  state.answer = (response, input) =>
    send(response, {
      data: input.map((text) => ({ embedding: /quokka|paint/i.test(text) ? [1, 0] : [0, 1] })),
    });
  const clock = new ManualClock();
  const search = start(url, place, { clock });
  search.update("files", [...TOOLS, tool("other", "Something else.")]);
  await until(async () => {
    clock.advance(31_000);
    return (await first(search)) === "paint";
  });
});

test("does without a place to keep vectors", async () => {
  const { url } = await endpoint();
  const place = temp();
  mkdirSync(place.home, { recursive: true });
  writeFileSync(join(place.home, "cache"), "in the way");
  await answered(start(url, place));
});
