import { once } from "node:events";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { temp } from "../../../test/support/temp.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../../engine/system-clock.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { CRAWL_BOUNDS } from "./crawl.ts";
import { Registry, type RegistryCandidates, type RegistryParts } from "./registry.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-01-10T12:00:00Z");

type Handler = (query: URLSearchParams, response: ServerResponse, request: IncomingMessage) => void;

interface TestServer {
  readonly url: string;
  /** The requested paths with their queries. */
  readonly requests: string[];
  handler: Handler;
  stop(): Promise<void>;
}

async function startServer(handler: Handler): Promise<TestServer> {
  const server = createServer((request, response) => {
    made.requests.push(request.url ?? "");
    made.handler(new URL(request.url ?? "", "http://x").searchParams, response, request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await new Promise((done) => server.close(done));
  };
  onTestFinished(stop);
  const made: TestServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    handler,
    stop,
  };
  return made;
}

function json(response: ServerResponse, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

const item = (
  name: string,
  { version = "1.0.0", meta = {} }: { version?: string; meta?: object } = {},
): object => ({
  server: {
    name: `io.github.acme/${name}`,
    description: `About ${name}`,
    version,
    packages: [{ registryType: "npm", identifier: name, version, transport: { type: "stdio" } }],
  },
  _meta: { "io.modelcontextprotocol.registry/official": { status: "active", isLatest: true, ...meta } },
});

const page = (names: readonly string[], nextCursor?: string): object => ({
  servers: names.map((name) => item(name)),
  metadata: { count: names.length, nextCursor },
});

/** Three pages of one list. */
const pages: Handler = (query, response) => {
  const at = Number(query.get("cursor") ?? 0);
  json(response, page([`s${at}a`, `s${at}b`], at < 2 ? String(at + 1) : undefined));
};
const ALL = ["s0a", "s0b", "s1a", "s1b", "s2a", "s2b"];

interface Setup {
  readonly home: string;
  /** The wall clock. */
  time: number;
  open(more?: Partial<RegistryParts>): Registry;
}

function setUp(baseUrl: string, home = temp().home): Setup {
  const made: Setup = {
    home,
    time: START,
    open(more = {}) {
      const registry = new Registry({
        source: { url: baseUrl },
        home,
        env: {},
        clock: systemClock,
        log: silentLog,
        // Long enough that an immediate answer is always awaited, also on a busy machine.
        firstWaitMs: 60_000,
        now: () => new Date(made.time),
        ...more,
      });
      onTestFinished(() => registry.close());
      return registry;
    },
  };
  return made;
}

const names = ({ candidates }: RegistryCandidates): string[] => candidates.map(({ name }) => name).sort();
const mirrors = async (home: string): Promise<string[]> =>
  await readdir(join(home, "registry")).catch(() => []);
const mirror = async (home: string): Promise<string> =>
  join(home, "registry", (await mirrors(home))[0] ?? "");

test("the first request reads all pages once and stores them readable only by the owner", async () => {
  const site = await startServer(pages);
  const { home, open } = setUp(`${site.url}/some/prefix/`);
  const registry = open();
  expect(await mirrors(home)).toEqual([]);
  expect(site.requests).toEqual([]);

  const [listed, same] = await Promise.all([registry.candidates(), registry.candidates()]);
  expect(names(listed)).toEqual(ALL);
  expect(listed).not.toHaveProperty("reason");
  expect(same.candidates).toBe(listed.candidates);
  expect(site.requests).toEqual([
    "/some/prefix/v0.1/servers?version=latest&limit=100",
    "/some/prefix/v0.1/servers?version=latest&limit=100&cursor=1",
    "/some/prefix/v0.1/servers?version=latest&limit=100&cursor=2",
  ]);

  await registry.close();
  expect(await mirrors(home)).toEqual([expect.stringMatching(/^[\w~-]+\.jsonl$/)]);
  expect((await stat(await mirror(home))).mode & 0o777).toBe(0o600);
  expect((await stat(join(home, "registry"))).mode & 0o777).toBe(0o700);
  expect((await open().candidates()).candidates).toEqual(listed.candidates);
  expect(site.requests).toHaveLength(3);
});

const huge = Buffer.alloc(9 << 20, " ");

test.each<[string, Handler, RegExp]>([
  [
    "HTML",
    (_, to) => to.writeHead(200, { "content-type": "text/html" }).end("<html>"),
    /text\/html instead of JSON/,
  ],
  ["no content type", (_, to) => to.writeHead(200).end("{}"), /instead of JSON/],
  [
    "HTML declared as JSON",
    (_, to) => to.writeHead(200, { "content-type": "application/json" }).end("<html>"),
    /not JSON/,
  ],
  [
    "incomplete JSON",
    (_, to) => to.writeHead(200, { "content-type": "application/json" }).end('{"servers":['),
    /not JSON/,
  ],
  [
    "a broken connection",
    (_, to) =>
      void to
        .writeHead(200, { "content-type": "application/json", "content-length": "99" })
        .write("{", () => to.destroy()),
    /could not be used/,
  ],
  ["status 500", (_, to) => to.writeHead(500).end("{}"), /status 500/],
  [
    "status 429",
    (_, to) => to.writeHead(429, { "content-type": "application/json" }).end("{}"),
    /status 429/,
  ],
  ["an unexpected status 304", (_, to) => to.writeHead(304).end(), /status 304/],
  ["a bare list", (_, to) => json(to, []), /not a list of servers/],
  ["servers that are not a list", (_, to) => json(to, { servers: { length: 5 } }), /not a list of servers/],
  ["no servers", (_, to) => json(to, {}), /not a list of servers/],
  ["null", (_, to) => json(to, null), /not a list of servers/],
  [
    "a cursor that is not a string",
    (_, to) => json(to, { servers: [], metadata: { nextCursor: {} } }),
    /cursor/,
  ],
  [
    "a cursor of a megabyte",
    (_, to) => json(to, { servers: [], metadata: { nextCursor: "x".repeat(1 << 20) } }),
    /cursor/,
  ],
  [
    "a body that is too large",
    (_, to) => to.writeHead(200, { "content-type": "application/json" }).end(huge),
    /larger than/,
  ],
  [
    "a content-length that is too large",
    (_, to) =>
      void to
        .writeHead(200, { "content-type": "application/json", "content-length": String(1 << 30) })
        .write(" "),
    /larger than/,
  ],
  [
    "a compressed body that is too large",
    (_, to) =>
      to
        .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
        .end(gzipSync(huge)),
    /larger than/,
  ],
  [
    "a redirect to another origin",
    (_, to) => to.writeHead(302, { location: "http://127.0.0.1:9/x" }).end(),
    /redirects to another place/,
  ],
  [
    "a redirect to a file",
    (_, to) => to.writeHead(302, { location: "file:///etc/passwd" }).end(),
    /redirects to another place/,
  ],
  ["a redirect loop", (_, to) => to.writeHead(307, { location: "/again" }).end(), /redirects without end/],
])("an answer with %s gives an empty list with a reason, and no mirror", async (_what, handler, reason) => {
  const site = await startServer(handler);
  const { home, open } = setUp(site.url);
  const registry = open();
  const listed = await registry.candidates();
  expect(listed.candidates).toEqual([]);
  expect(listed.reason).toMatch(reason);
  expect(listed.reason).toMatch(/^The MCP registry \(127\.0\.0\.1:\d+\) could not be used: /);
  expect(await mirrors(home)).toEqual([]);

  const { length } = site.requests;
  expect(await registry.candidates()).toEqual(listed);
  expect(site.requests).toHaveLength(length);
});

test("a redirect within the same origin is followed", async () => {
  const site = await startServer((query, response, { url = "" }) => {
    if (url.startsWith("/v0.1/")) response.writeHead(308, { location: `/moved${url}` }).end();
    else pages(query, response, undefined as never);
  });
  expect(names(await setUp(site.url).open().candidates())).toEqual(ALL);
});

test("a refused connection is given as the reason", async () => {
  const site = await startServer(pages);
  await site.stop();
  expect((await setUp(site.url).open().candidates()).reason).toMatch(
    /^The MCP registry \(127\.0\.0\.1:\d+\) could not be used: ECONNREFUSED\.$/,
  );
});

test.each(["", "registry", "file:///etc", "javascript:1"])("%j is not a registry address", async (url) => {
  expect((await setUp(url).open().candidates()).reason).toMatch(/not an http or https URL/);
});

test("a silent registry delays the caller only for firstWaitMs, and its request times out", async () => {
  const site = await startServer(() => {});
  const clock = new ManualClock();
  const registry = setUp(site.url).open({ clock, firstWaitMs: 3_000 });
  const first = registry.candidates();
  await until(() => site.requests.length === 1);
  clock.advance(3_000);
  expect(await first).toEqual({
    candidates: [],
    reason: expect.stringMatching(/still being read, 0 servers/),
  });

  expect((await registry.candidates()).reason).toMatch(/still being read/);
  clock.advance(20_000);
  await until(async () => !(await registry.candidates()).reason?.includes("still"));
  expect((await registry.candidates()).reason).toMatch(/no answer within 20000 ms/);
  expect(site.requests).toHaveLength(1);

  site.handler = pages;
  clock.advance(60_000);
  expect(names(await registry.candidates())).toEqual(ALL);
});

test("an answer that arrives byte by byte times out", async () => {
  const site = await startServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const drip = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(drip));
  });
  const clock = new ManualClock();
  const registry = setUp(site.url).open({ clock, bounds: { ...CRAWL_BOUNDS, requestMs: 15_000 } });
  const listed = registry.candidates();
  await until(() => site.requests.length === 1);
  clock.advance(15_000);
  expect((await listed).reason).toMatch(/no answer within 15000 ms/);
});

test("a cancelled request returns the servers read so far, and the next process continues from there", async () => {
  const site = await startServer((query, response) => {
    if (!query.has("cursor")) pages(query, response, undefined as never);
  });
  const { open, home } = setUp(site.url);
  const registry = open();
  const caller = new AbortController();
  const listed = registry.candidates(caller.signal);
  await until(() => site.requests.length === 2);
  caller.abort();
  expect(names(await listed)).toEqual(["s0a", "s0b"]);
  expect((await listed).reason).toMatch(/still being read, 2 servers so far/);

  await registry.close();
  site.handler = pages;
  const next = open();
  const partly = await next.candidates();
  expect(names(partly)).toEqual(["s0a", "s0b"]);
  await until(async () => names(await next.candidates()).length === ALL.length);
  expect(site.requests.slice(2)).toEqual([
    expect.stringMatching(/cursor=1$/),
    expect.stringMatching(/cursor=2$/),
  ]);
  await next.close();
  expect(await mirrors(home)).toHaveLength(1);
});

test("after an error in the middle of the list the read servers are kept, and the next process continues there", async () => {
  let broken = true;
  const site = await startServer((query, response) => {
    if (query.get("cursor") === "2" && broken) response.writeHead(503).end();
    else pages(query, response, undefined as never);
  });
  const { open } = setUp(site.url);
  const first = open();
  const listed = await first.candidates();
  expect(names(listed)).toEqual(["s0a", "s0b", "s1a", "s1b"]);
  expect(listed.reason).toMatch(/read only in part \(4 servers\): .*status 503/);
  await first.close();

  broken = false;
  const second = open();
  await until(async () => names(await second.candidates()).length === ALL.length);
  expect(await second.candidates()).not.toHaveProperty("reason");
  expect(site.requests.at(-1)).toMatch(/cursor=2$/);
  expect(site.requests).toHaveLength(4);
});

test("if the registry rejects a stored cursor, the list is read from the beginning", async () => {
  let fault: number | undefined = 503;
  const site = await startServer((query, response) => {
    if (query.get("cursor") === "1" && fault) response.writeHead(fault).end();
    else pages(query, response, undefined as never);
  });
  const { open } = setUp(site.url);
  const first = open();
  await first.candidates();
  await first.close();
  fault = 400;
  const second = open();
  await until(async () => (await second.candidates()).reason?.includes("status 400"));
  await second.close();
  fault = undefined;
  const third = open();
  await until(async () => names(await third.candidates()).length === ALL.length);
  expect(site.requests[3]).not.toMatch(/cursor/);
});

test("endless pages, large lists and repeated cursors end the crawl", async () => {
  let count = 0;
  const endless = await startServer((_, response) => json(response, page([`n${++count}`], `c${count}`)));
  const listed = await setUp(endless.url)
    .open({ bounds: { ...CRAWL_BOUNDS, pages: 7 } })
    .candidates();
  expect(listed.candidates).toHaveLength(7);
  expect(endless.requests).toHaveLength(7);

  const heavy = await startServer((_, response) => json(response, page([`n${++count}`], `c${count}`)));
  await setUp(heavy.url)
    .open({ bounds: { ...CRAWL_BOUNDS, totalBytes: 1_000 } })
    .candidates();
  expect(heavy.requests.length).toBeLessThan(10);

  const circle = await startServer((query, response) =>
    json(response, page([`c${query.get("cursor") ?? 0}`], query.get("cursor") === "1" ? "2" : "1")),
  );
  const { open } = setUp(circle.url);
  expect(names(await open().candidates())).toEqual(["c0", "c1", "c2"]);
  expect(circle.requests).toHaveLength(3);
});

test("invalid entries are skipped and valid ones are kept", async () => {
  const hostile = [
    null,
    1,
    "x",
    [],
    {},
    { server: null },
    { server: [] },
    { server: { name: 5 } },
    item("../../x"),
    item('a"b'),
    item("old", { meta: { status: "deprecated" } }),
    item("gone", { meta: { status: "deleted" } }),
    item("earlier", { meta: { isLatest: false } }),
    item("range", { version: "^1.0.0" }),
    JSON.parse(
      '{"server":{"__proto__":{"name":"io.github.acme/proto"},"constructor":1},"_meta":{"__proto__":[]}}',
    ),
  ];
  const site = await startServer((_, response) =>
    json(response, { servers: [item("good"), ...hostile, item("fine")], metadata: null }),
  );
  expect(names(await setUp(site.url).open().candidates())).toEqual(["fine", "good"]);
});

test("an outdated mirror is returned at once, and only the changes are requested", async () => {
  const site = await startServer(pages);
  const made = setUp(site.url);
  const first = made.open();
  await first.candidates();
  await first.close();

  let release = (): void => {};
  site.handler = (_, response) => {
    release = () =>
      json(response, {
        servers: [
          item("s0a", { version: "2.0.0" }),
          item("s1a", { meta: { status: "deleted" } }),
          item("new"),
        ],
        metadata: {},
      });
  };
  made.time += 2 * DAY;
  const registry = made.open();
  const before = await registry.candidates();
  expect(names(before)).toEqual(ALL);
  await until(() => site.requests.length === 4);
  expect(new URL(site.requests[3] ?? "", "http://x").searchParams.get("updated_since")).toBe(
    "2026-01-10T06:00:00.000Z",
  );
  expect((await registry.candidates()).candidates).toBe(before.candidates);

  release();
  const after = await until(async () => {
    const listed = await registry.candidates();
    return listed.candidates !== before.candidates && listed;
  });
  expect(names(after)).toEqual(["new", "s0a", "s0b", "s1b", "s2a", "s2b"]);
  expect(after.candidates.find(({ name }) => name === "s0a")?.version).toBe("2.0.0");
  await registry.close();
  expect(names(await made.open().candidates())).toEqual(names(after));
  expect(site.requests).toHaveLength(4);
});

test("a registry that rejects updated_since is read completely", async () => {
  const site = await startServer(pages);
  const made = setUp(site.url);
  const first = made.open();
  await first.candidates();
  await first.close();
  site.handler = (query, response) => {
    if (query.has("updated_since")) response.writeHead(422).end();
    else json(response, page(["only"]));
  };
  made.time += 2 * DAY;
  const registry = made.open();
  await until(async () => names(await registry.candidates()).join() === "only");
});

test("an unchanged list is requested with its ETag and not sent again", async () => {
  const seen: (string | undefined)[] = [];
  const site = await startServer((_, response, { headers }) => {
    seen.push(headers["if-none-match"]);
    if (headers["if-none-match"] === '"v1"') response.writeHead(304).end();
    else json(response, { servers: headers["x"] ? [] : [item("one")] }, { etag: '"v1"' });
  });
  const made = setUp(site.url);
  const registry = made.open();
  const { candidates } = await registry.candidates();
  // After a week the full list is requested again, with its ETag.
  made.time += 8 * DAY;
  await registry.candidates();
  await until(() => seen.length === 2);
  expect(seen).toEqual([undefined, '"v1"']);
  await registry.close();
  expect((await registry.candidates()).candidates).toBe(candidates);
  expect(names(await made.open().candidates())).toEqual(["one"]);
  expect(seen).toHaveLength(2);
});

test("the ETag of the first of several pages is not used", async () => {
  const seen: (string | undefined)[] = [];
  const site = await startServer((query, response, { headers }) => {
    seen.push(headers["if-none-match"]);
    const more = query.has("cursor") ? undefined : "1";
    json(response, page([`p${more}`], more), { etag: '"v1"' });
  });
  const made = setUp(site.url);
  const registry = made.open();
  await registry.candidates();
  made.time += 8 * DAY;
  await registry.candidates();
  await until(() => seen.length === 4);
  expect(seen).toEqual([undefined, undefined, undefined, undefined]);
});

test("if the registry is down, the old list is returned with its age", async () => {
  const site = await startServer(pages);
  const made = setUp(site.url);
  const first = made.open();
  const { candidates } = await first.candidates();
  await first.close();
  await site.stop();
  made.time += 3 * DAY;
  const registry = made.open();
  const listed = await until(async () => {
    const one = await registry.candidates();
    return one.reason ? one : undefined;
  });
  expect(listed.reason).toMatch(/could not be reached \(.*ECONNREFUSED\); its list is 3 days old/);
  expect(listed.candidates).toEqual(candidates);
});

test("the weekly full read removes missing servers, but ignores an empty list", async () => {
  const site = await startServer(pages);
  const made = setUp(site.url);
  const registry = made.open();
  await registry.candidates();
  site.handler = (_, response) => json(response, page(["s0a"]));
  made.time += 8 * DAY;
  await until(async () => names(await registry.candidates()).join() === "s0a");
  expect(site.requests.at(-1)).not.toMatch(/updated_since/);

  site.handler = (_, response) => json(response, { servers: null, metadata: {} });
  made.time += 8 * DAY;
  await until(async () => (await registry.candidates()).reason?.includes("its list is empty"));
  expect(names(await registry.candidates())).toEqual(["s0a"]);
});

test.each<[string, (text: string) => string]>([
  ["half of the text", (text) => text.slice(0, text.length / 2)],
  ["a missing line", (text) => text.split("\n").toSpliced(2, 1).join("\n")],
  ["no text", () => ""],
  ["another format", () => '{"format":"other"}\n'],
  ["invalid JSON", (text) => text.replaceAll("{", "")],
  ["an invalid server", (text) => text.replace("io.github.acme/s0a", "../../x")],
  [
    "the address of another registry",
    (text) => text.replace(/"base":"[^"]*"/, '"base":"https://evil.example/"'),
  ],
])("a mirror with %s is ignored", async (_what, spoil) => {
  const site = await startServer(pages);
  const made = setUp(site.url);
  const first = made.open();
  await first.candidates();
  await first.close();
  const path = await mirror(made.home);
  await writeFile(path, spoil(await readFile(path, "utf8")));
  expect(names(await made.open().candidates())).toEqual(ALL);
  expect(site.requests).toHaveLength(6);
});

test("without a writable home the list is returned but not stored", async () => {
  const site = await startServer(pages);
  const { folder } = temp();
  await writeFile(join(folder, "home"), "a file");
  expect(names(await setUp(site.url, join(folder, "home")).open().candidates())).toEqual(ALL);

  const { home } = temp();
  await mkdir(home);
  await writeFile(join(home, "registry"), "a file");
  expect(names(await setUp(site.url, home).open().candidates())).toEqual(ALL);
});

test("two registries that start at the same time read the list once", async () => {
  const site = await startServer(pages);
  const { open } = setUp(site.url);
  const offers = await Promise.all([open().candidates(), open().candidates()]);
  expect(offers.map(names)).toEqual([ALL, ALL]);
  expect(site.requests).toHaveLength(3);
});

test("credentials in the address are sent to the registry, and neither stored nor shown", async () => {
  const seen: (string | undefined)[] = [];
  const site = await startServer((query, response, { headers }) => {
    seen.push(headers.authorization, headers.cookie);
    if (query.has("cursor")) response.writeHead(401).end();
    else pages(query, response, undefined as never);
  });
  const made = setUp(site.url.replace("http://", "http://me:s3cr%25t@"));
  const registry = made.open();
  const listed = await registry.candidates();
  expect(seen.slice(0, 2)).toEqual([`Basic ${Buffer.from("me:s3cr%t").toString("base64")}`, undefined]);
  const other = setUp(site.url).open({ source: { url: site.url, token: "s3cr%t" } });
  await other.candidates();
  expect(seen.slice(4, 6)).toEqual(["Bearer s3cr%t", undefined]);
  await registry.close();
  expect(
    `${listed.reason}${await readFile(await mirror(made.home), "utf8")}${await mirror(made.home)}`,
  ).not.toMatch(/s3cr|bWU6/);

  seen.length = 0;
  await setUp(site.url).open().candidates();
  expect(seen.every((one) => one === undefined)).toBe(true);
});
