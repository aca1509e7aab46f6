import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ChildFailure, type Link } from "../../../src/child/link.ts";
import { createOpenApiConnector } from "../../../src/child/openapi/connector.ts";
import type { OpenApiSpec } from "../../../src/config/spec.ts";
import { ManualClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { asRaw, fromRaw, toRaw } from "../../../src/kernel/raw.ts";
import type { Message } from "../../../src/rpc/message.ts";
import { type Answer, apiServer, apiSpec } from "../../support/api-server.ts";
import { atEnd } from "../../support/shared.ts";
import { temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const OBJECT = {
  content: { "application/json": { schema: { type: "object", properties: { id: { type: "integer" } } } } },
};
const LIST = { content: { "application/json": { schema: { type: "array", items: {} } } } };
const API = {
  openapi: "3.1.0",
  info: { title: "Test", version: "1.2" },
  paths: {
    "/object": { get: { operationId: "object", responses: { 200: OBJECT } } },
    "/list": { get: { operationId: "list", responses: { 200: LIST } } },
    "/any": { get: { operationId: "any", parameters: [{ name: "q", in: "query", schema: {} }] } },
  },
  components: {
    securitySchemes: {
      query: { type: "apiKey", in: "query", name: "api_key" },
      cookie: { type: "apiKey", in: "cookie", name: "sid" },
    },
  },
};

interface CallResult {
  readonly content: readonly Record<string, unknown>[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

/** A connected link, as a caller uses it. */
class Linked {
  readonly notes: Message[] = [];
  readonly clock: ManualClock;
  readonly link: Link;
  #id = 0;
  readonly #waiting: Map<number, (outcome: unknown) => void>;

  constructor(
    link: Link,
    clock: ManualClock,
    waiting: Map<number, (outcome: unknown) => void>,
    notes: Message[],
  ) {
    this.link = link;
    this.clock = clock;
    this.#waiting = waiting;
    this.notes = notes;
  }

  static async open(
    spec: OpenApiSpec,
    { home = temp().home, maxMessageBytes = 1 << 20, log = silentLog } = {},
  ) {
    const waiting = new Map<number, (outcome: unknown) => void>();
    const notes: Message[] = [];
    const clock = new ManualClock();
    const settle = (id: number, outcome: unknown): void => waiting.get(id)?.(outcome);
    const events = {
      onMessage(message: Message) {
        if (message.kind === "result") settle(Number(message.id.toString()), fromRaw(message.result));
        else if (message.kind === "error") settle(Number(message.id?.toString()), fromRaw(message.error));
        else notes.push(message);
      },
      onFailed: settle,
      onClosed: () => {},
    };
    const connector = createOpenApiConnector({ home, log, clock, maxMessageBytes });
    const link = await connector.open(spec, events, new AbortController().signal);
    atEnd(() => link.close());
    return new Linked(link, clock, waiting, notes);
  }

  ask(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#id;
    const outcome = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.link.send({ kind: "request", id: asRaw(Buffer.from(String(id))), method, params: toRaw(params) });
    return outcome;
  }

  async call(name: string, args: object = {}): Promise<CallResult> {
    return (await this.ask("tools/call", { name, arguments: args })) as CallResult;
  }

  async tools(): Promise<readonly string[]> {
    const { tools } = (await this.ask("tools/list", {})) as { tools: readonly { name: string }[] };
    return tools.map(({ name }) => name);
  }
}

async function linked(answer: Answer, more: Record<string, unknown> = {}) {
  const api = await apiServer(API, answer);
  return { api, client: await Linked.open(apiSpec(`${api.url}/openapi.json`, more)) };
}

const respond =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);

describe("answers", () => {
  const calls = async (answer: Answer, tool = "any") => (await linked(answer)).client.call(tool);

  test("JSON is structured as the document says", async () => {
    expect(await calls(respond(200, '{"id": 9007199254740993}'), "object")).toMatchObject({
      content: [{ type: "text", text: '{"id": 9007199254740993}' }],
      structuredContent: { id: expect.any(Number) },
    });
    expect(await calls(respond(200, "[1]"), "list")).toMatchObject({ structuredContent: { result: [1] } });
    expect(await calls(respond(200, "[1]"), "object")).toMatchObject({ structuredContent: { result: [1] } });
    expect(await calls(respond(200, "{}"))).toEqual({ content: [{ type: "text", text: "{}" }] });
    const lines = respond(200, '{"a":1}\n{"a":2}\n', { "content-type": "application/x-ndjson" });
    expect(await calls(lines, "list")).toMatchObject({ structuredContent: { result: [{ a: 1 }, { a: 2 }] } });
  });

  test("other content keeps its kind", async () => {
    expect(await calls(respond(201, "", { location: "/jobs/1" }), "object")).toEqual({
      content: [{ type: "text", text: "201 Created, Location: /jobs/1" }],
      structuredContent: {},
    });
    const png = respond(200, Buffer.from([1, 2]), { "content-type": "image/png" });
    expect(await calls(png)).toEqual({ content: [{ type: "image", data: "AQI=", mimeType: "image/png" }] });
    const zip = respond(200, Buffer.from([1, 2]), { "content-type": "application/zip" });
    expect(await calls(zip)).toMatchObject({
      content: [{ type: "resource", resource: { mimeType: "application/zip", blob: "AQI=" } }],
    });
    const latin = respond(200, Buffer.from([0xe9]), { "content-type": "text/plain; charset=iso-8859-1" });
    expect(await calls(latin)).toEqual({ content: [{ type: "text", text: "é" }] });
  });

  test("a body that is compressed although we did not ask for that is read, within the limit", async () => {
    const body = '{"a":1}';
    const as = (encoding: string, bytes: Buffer) => respond(200, bytes, { "content-encoding": encoding });
    for (const one of [as("gzip", gzipSync(body)), as("br", brotliCompressSync(body))])
      expect(await calls(one, "object")).toMatchObject({ structuredContent: { a: 1 } });
    expect(await calls(as("gzip", gzipSync(Buffer.alloc(2 << 20))))).toMatchObject({
      data: { metamcp: "result_too_large" },
    });
    for (const encoding of ["gzip", "zstd"])
      expect(await calls(as(encoding, Buffer.from("none")))).toMatchObject({
        category: "other",
        message: expect.stringMatching(`encoded as ${encoding}`),
      });
  });

  test("4xx is an error with the body, in which secrets are masked", async () => {
    const { client } = await linked(respond(404, '{"message":"no; you sent hunter2-hunter2"}'), {
      headers: { Authorization: "hunter2-hunter2" },
    });
    const { isError, content } = await client.call("any");
    expect(isError).toBe(true);
    expect(content[0]?.["text"]).toMatch(
      /^GET http:\/\/127\.0\.0\.1:\d+\/any: 404 Not Found\n.*you sent \[secret\]/,
    );
  });

  test.each([
    [401, {}, { category: "auth", challenge: undefined }],
    [403, { "www-authenticate": "Bearer" }, { category: "auth", challenge: "Bearer" }],
    [429, { "retry-after": "7" }, { category: "other", limited: { retryAfterMs: 7_000 } }],
    [429, {}, { category: "other", limited: {} }],
    [403, { "retry-after": "2", "x-ratelimit-remaining": "0" }, { limited: { retryAfterMs: 2_000 } }],
    [503, {}, { category: "http", limited: undefined }],
  ])("%i %j is a failure of the server", async (status, headers, failure) => {
    const outcome = await calls(respond(status, '{"why":"because"}', headers as Record<string, string>));
    expect(outcome).toBeInstanceOf(ChildFailure);
    expect(outcome).toMatchObject({ unsent: false, ...failure, message: expect.stringContaining("because") });
  });

  test("an answer over the limit, and one that is cut off", async () => {
    expect(await calls(respond(200, "x".repeat(2 << 20)))).toMatchObject({
      data: { metamcp: "result_too_large" },
    });
    const cut: Answer = (_, response) => {
      response.writeHead(200, { "content-length": "10" }).write("{");
      response.socket?.destroySoon();
    };
    expect(await calls(cut)).toMatchObject({ category: "offline", unsent: false });
  });
});

describe("redirects", () => {
  test("on the origin are followed, others are not, and their host gets nothing", async () => {
    const other = await apiServer(API);
    const { api, client } = await linked(({ url }, response) => {
      const location = url.startsWith("/any") ? `${other.url}/stolen` : "/any2";
      response.writeHead(url === "/any2" ? 200 : 302, url === "/any2" ? {} : { location }).end(url);
    });
    expect((await client.call("object")).content[0]?.["text"]).toBe("/any2");
    const refused = await client.call("any");
    expect(refused).toMatchObject({ isError: true });
    expect(refused.content[0]?.["text"]).toContain("Redirects to another host are not followed");
    expect(other.seen).toEqual([]);
    expect(api.seen.map(({ url }) => url)).toEqual(["/object", "/any2", "/any"]);
  });

  test("in a circle end", async () => {
    const { api, client } = await linked(({ url }, response) => {
      response.writeHead(302, { location: url }).end();
    });
    expect((await client.call("any")).content[0]?.["text"]).toContain("others a few times");
    expect(api.seen).toHaveLength(4);
  });
});

describe("credentials", () => {
  test("go where the document says, and arguments cannot replace them", async () => {
    const { api, client } = await linked(respond(200, "{}"), {
      headers: { API_KEY: "key-of-config", sid: "s;1", "X-Key": "xyz-of-config", Cookie: "a=b" },
    });
    await client.call("any", { q: "1", api_key: "mine", sid: "mine", "X-Key": "mine" });
    const [{ url, headers }] = api.seen as [(typeof api.seen)[0]];
    expect(url).toBe("/any?q=1&api_key=key-of-config");
    expect(headers).toMatchObject({ cookie: "a=b; sid=s%3B1", "x-key": "xyz-of-config" });
    expect(headers["api_key"]).toBeUndefined();
    expect(headers["sid"]).toBeUndefined();
  });

  test("are not sent to the host of the document if the API is on another one", async () => {
    let asked: unknown;
    const host = await apiServer((seen: { headers: unknown }) => {
      asked = seen.headers;
      return API;
    });
    const api = await apiServer(undefined);
    const headers = { Authorization: "Bearer of-the-api" };
    const client = await Linked.open(
      apiSpec(`${host.url}/openapi.json`, { baseUrl: `${api.url}/v1`, headers }),
    );
    await client.call("any");
    expect(asked).not.toHaveProperty("authorization");
    expect(api.seen).toMatchObject([{ url: "/v1/any", headers: { authorization: "Bearer of-the-api" } }]);
  });
});

describe("calls under way", () => {
  test("report progress of large answers", async () => {
    const size = 5 << 20;
    const api = await apiServer(API, respond(200, "x".repeat(size), { "content-length": String(size) }));
    const client = await Linked.open(apiSpec(`${api.url}/openapi.json`), { maxMessageBytes: 1 << 24 });
    await client.ask("tools/call", { name: "any", arguments: {}, _meta: { progressToken: "t" } });
    const progress = client.notes.flatMap((note) =>
      note.kind === "notification" && note.params ? [fromRaw(note.params)] : [],
    );
    expect(progress.length).toBeGreaterThan(2);
    expect(progress[0]).toMatchObject({ progressToken: "t", total: size });
  });

  test("end at the API when they are cancelled", async () => {
    let gone = false;
    const { api, client } = await linked((_, response) => void response.once("close", () => (gone = true)));
    void client.call("any");
    await until(() => api.seen.length === 1, { what: "the request" });
    client.link.send({
      kind: "notification",
      method: "notifications/cancelled",
      params: toRaw({ requestId: 1 }),
    });
    await until(() => gone, { what: "the end of the request" });
  });
});

describe("the document", () => {
  test("is asked for with its validators, and a change is told", async () => {
    const home = temp().home;
    let document: object = API;
    const asked: unknown[] = [];
    const api = await apiServer((seen: { headers: Record<string, unknown> }, response: ServerResponse) => {
      const etag = `"${Object.keys((document as typeof API).paths).length}"`;
      asked.push(seen.headers["if-none-match"]);
      response.setHeader("etag", etag);
      if (seen.headers["if-none-match"] !== etag) return document;
      response.writeHead(304).end();
      return undefined;
    });
    const spec = apiSpec(`${api.url}/openapi.json`);
    await Linked.open(spec, { home });
    const client = await Linked.open(spec, { home });
    expect(asked).toEqual([undefined, '"3"']);

    document = { ...API, paths: { "/new": { get: { operationId: "fresh" } } } };
    client.clock.advance(10 * 60_000);
    await until(() => client.notes.length > 0, { what: "the notification" });
    expect(client.notes[0]).toMatchObject({ method: "notifications/tools/list_changed" });
    expect(await client.tools()).toEqual(["fresh"]);

    await api.stop();
    expect(await (await Linked.open(spec, { home })).tools()).toEqual(["fresh"]);
    const folder = join(home, "cache", "api");
    const kept = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
    expect(kept.filter((text) => text.includes("fresh"))).toHaveLength(1);
    expect(kept.filter((text) => text.includes('"etag"'))).toHaveLength(1);
  });

  test("that says the API is elsewhere needs the config to say so", async () => {
    const api = await apiServer({ ...API, servers: [{ url: "http://169.254.169.254/latest" }] });
    const open = Linked.open(apiSpec(`${api.url}/openapi.json`));
    await expect(open).rejects.toMatchObject({
      needsFix: true,
      message: expect.stringContaining('"baseUrl": "http://169.254.169.254/latest"'),
    });
  });

  test.each([
    ["text that is no document", "{", /not valid JSON.*line 1/],
    ["an error", undefined, /the document http.* does not exist \(404\)/],
  ])("%s is a reason that names it", async (_, text, why) => {
    const api = await apiServer((_seen: unknown, response: ServerResponse) => {
      if (text === undefined) response.writeHead(404).end();
      return text;
    });
    const open = Linked.open(apiSpec(`${api.url}/openapi.json`));
    await expect(open).rejects.toMatchObject({
      needsFix: true,
      unsent: true,
      message: expect.stringMatching(why),
    });
  });

  test("that leads to another host by a redirect or a reference does not lead us there", async () => {
    const inner = await apiServer({ Secret: { type: "string" } });
    const lost = await apiServer((_seen: unknown, response: ServerResponse) => {
      response.writeHead(302, { location: `${inner.url}/openapi.json` }).end();
    });
    await expect(Linked.open(apiSpec(`${lost.url}/openapi.json`))).rejects.toThrow(/has moved/);

    let asked = 0;
    const target = await apiServer(() => {
      asked++;
      return {};
    });
    const paths = { ...API.paths, "/x": { $ref: `${target.url}/openapi.json#/x` } };
    const api = await apiServer({ ...API, paths });
    const client = await Linked.open(apiSpec(`${api.url}/openapi.json`));
    expect(await client.tools()).toHaveLength(3);
    expect(asked).toBe(0);
  });

  test("in a file refers to files of its folder only", async () => {
    const { folder } = temp();
    const own = join(folder, "api");
    mkdirSync(join(own, "parts"), { recursive: true });
    const item = (name: string) => JSON.stringify({ get: { operationId: name } });
    writeFileSync(join(own, "parts", "in.json"), item("inside"));
    writeFileSync(join(folder, "out.json"), item("outside"));
    symlinkSync(join(folder, "out.json"), join(own, "link.json"));
    const paths = {
      "/in": { $ref: "parts/in.json" },
      "/out": { $ref: "../out.json" },
      "/link": { $ref: "link.json" },
      "/web": { $ref: "http://127.0.0.1:9/x.json" },
    };
    writeFileSync(join(own, "openapi.json"), JSON.stringify({ ...API, paths }));
    const warned: string[] = [];
    const log = { ...silentLog, warn: (text: string) => void warned.push(text) };
    const client = await Linked.open(apiSpec(join(own, "openapi.json"), { baseUrl: "http://127.0.0.1:9" }), {
      log,
    });
    expect(await client.tools()).toEqual(["inside"]);
    expect(warned.join()).toMatch(/3 operations are left out/);
    expect(warned.join()).toMatch(/outside of the folder of the document/);
  });

  test("of a host whose name leads into a private network is refused", async () => {
    const { hostLookup } = await import("../../../src/child/openapi/host-lookup.ts");
    const found = (hostname: string, address: string): Promise<unknown> =>
      new Promise((resolve) => {
        const answer = (_: string, __: unknown, done: (...all: unknown[]) => void): void =>
          done(null, [{ address, family: address.includes(":") ? 6 : 4 }]);
        hostLookup(answer as never)(hostname, { all: true }, (error, addresses) =>
          resolve(error?.code ?? addresses),
        );
      });
    for (const address of [
      "10.1.2.3",
      "127.0.0.1",
      "169.254.169.254",
      "192.168.0.1",
      "::1",
      "fd00::1",
      "::ffff:10.0.0.1",
      "100.64.0.1",
    ])
      expect(await found("api.example.com", address), address).toBe("EPRIVATE");
    expect(await found("api.internal", "10.1.2.3")).toEqual([{ address: "10.1.2.3", family: 4 }]);
    expect(await found("api.example.com", "93.184.216.34")).toEqual([
      { address: "93.184.216.34", family: 4 },
    ]);
  });
});
