import { once } from "node:events";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { temp } from "../../../test/support/temp.ts";
import { until } from "../../../test/support/until.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { systemClock } from "../../system-clock.ts";
import { CRAWL_BOUNDS } from "./crawl.ts";
import { type Offer, Registry, type RegistryParts } from "./registry.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-01-10T12:00:00Z");

type Handler = (query: URLSearchParams, response: ServerResponse, request: IncomingMessage) => void;

interface Web {
  readonly url: string;
  /** Paths with their queries, as they were asked for. */
  readonly asked: string[];
  handler: Handler;
  stop(): Promise<void>;
}

async function web(handler: Handler): Promise<Web> {
  const server = createServer((request, response) => {
    made.asked.push(request.url ?? "");
    made.handler(new URL(request.url ?? "", "http://x").searchParams, response, request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await new Promise((done) => server.close(done));
  };
  onTestFinished(stop);
  const made: Web = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
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

interface Bench {
  readonly home: string;
  /** By the wall. */
  time: number;
  open(more?: Partial<RegistryParts>): Registry;
}

function bench(baseUrl: string, home = temp().home): Bench {
  const made: Bench = {
    home,
    time: START,
    open(more = {}) {
      const registry = new Registry({
        baseUrl,
        home,
        env: {},
        clock: systemClock,
        log: silentLog,
        // Nobody waits that long: an answer that comes at once is waited for, however busy the machine is.
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

const names = ({ candidates }: Offer): string[] => candidates.map(({ name }) => name).sort();
const mirrors = async (home: string): Promise<string[]> =>
  await readdir(join(home, "registry")).catch(() => []);
const mirror = async (home: string): Promise<string> =>
  join(home, "registry", (await mirrors(home))[0] ?? "");

test("nothing happens before it is asked; then all pages are read once, and kept for the owner alone", async () => {
  const site = await web(pages);
  const { home, open } = bench(`${site.url}/some/prefix/`);
  const registry = open();
  expect(await mirrors(home)).toEqual([]);
  expect(site.asked).toEqual([]);

  const [offer, same] = await Promise.all([registry.candidates(), registry.candidates()]);
  expect(names(offer)).toEqual(ALL);
  expect(offer).not.toHaveProperty("reason");
  expect(same.candidates).toBe(offer.candidates);
  expect(site.asked).toEqual([
    "/some/prefix/v0.1/servers?version=latest&limit=100",
    "/some/prefix/v0.1/servers?version=latest&limit=100&cursor=1",
    "/some/prefix/v0.1/servers?version=latest&limit=100&cursor=2",
  ]);

  await registry.close();
  expect(await mirrors(home)).toEqual([expect.stringMatching(/^[\w~-]+\.jsonl$/)]);
  expect((await stat(await mirror(home))).mode & 0o777).toBe(0o600);
  expect((await stat(join(home, "registry"))).mode & 0o777).toBe(0o700);
  expect((await open().candidates()).candidates).toEqual(offer.candidates);
  expect(site.asked).toHaveLength(3);
});

const huge = Buffer.alloc(9 << 20, " ");

test.each<[string, Handler, RegExp]>([
  [
    "HTML",
    (_, to) => to.writeHead(200, { "content-type": "text/html" }).end("<html>"),
    /text\/html instead of JSON/,
  ],
  ["no type", (_, to) => to.writeHead(200).end("{}"), /instead of JSON/],
  [
    "HTML under another name",
    (_, to) => to.writeHead(200, { "content-type": "application/json" }).end("<html>"),
    /not JSON/,
  ],
  [
    "half of it",
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
  ["an error", (_, to) => to.writeHead(500).end("{}"), /status 500/],
  [
    "too many requests",
    (_, to) => to.writeHead(429, { "content-type": "application/json" }).end("{}"),
    /status 429/,
  ],
  ["304 without being asked", (_, to) => to.writeHead(304).end(), /status 304/],
  ["a bare list", (_, to) => json(to, []), /not a list of servers/],
  ["servers that are none", (_, to) => json(to, { servers: { length: 5 } }), /not a list of servers/],
  ["no servers", (_, to) => json(to, {}), /not a list of servers/],
  ["null", (_, to) => json(to, null), /not a list of servers/],
  ["a cursor that is none", (_, to) => json(to, { servers: [], metadata: { nextCursor: {} } }), /cursor/],
  [
    "a cursor of a megabyte",
    (_, to) => json(to, { servers: [], metadata: { nextCursor: "x".repeat(1 << 20) } }),
    /cursor/,
  ],
  ["too much", (_, to) => to.writeHead(200, { "content-type": "application/json" }).end(huge), /larger than/],
  [
    "too much by its own word",
    (_, to) =>
      void to
        .writeHead(200, { "content-type": "application/json", "content-length": String(1 << 30) })
        .write(" "),
    /larger than/,
  ],
  [
    "too much in little",
    (_, to) =>
      to
        .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
        .end(gzipSync(huge)),
    /larger than/,
  ],
  [
    "a way elsewhere",
    (_, to) => to.writeHead(302, { location: "http://127.0.0.1:9/x" }).end(),
    /redirects to another place/,
  ],
  [
    "a way to a file",
    (_, to) => to.writeHead(302, { location: "file:///etc/passwd" }).end(),
    /redirects to another place/,
  ],
  ["a way in a circle", (_, to) => to.writeHead(307, { location: "/again" }).end(), /redirects without end/],
])("%s is a reason, and leaves nothing behind", async (_what, handler, reason) => {
  const site = await web(handler);
  const { home, open } = bench(site.url);
  const registry = open();
  const offer = await registry.candidates();
  expect(offer.candidates).toEqual([]);
  expect(offer.reason).toMatch(reason);
  expect(offer.reason).toMatch(/^The MCP registry \(127\.0\.0\.1:\d+\) could not be used: /);
  expect(await mirrors(home)).toEqual([]);

  const { length } = site.asked;
  expect(await registry.candidates()).toEqual(offer);
  expect(site.asked).toHaveLength(length);
});

test("a redirect within the same place is followed", async () => {
  const site = await web((query, response, { url = "" }) => {
    if (url.startsWith("/v0.1/")) response.writeHead(308, { location: `/moved${url}` }).end();
    else pages(query, response, undefined as never);
  });
  expect(names(await bench(site.url).open().candidates())).toEqual(ALL);
});

test("nobody listening is a reason", async () => {
  const site = await web(pages);
  await site.stop();
  expect((await bench(site.url).open().candidates()).reason).toMatch(
    /could not be used: 127\.0\.0\.1:\d+: ECONNREFUSED\.$/,
  );
});

test.each(["", "registry", "file:///etc", "javascript:1"])("%j is no registry", async (url) => {
  expect((await bench(url).open().candidates()).reason).toMatch(/not an http or https URL/);
});

test("silence is waited for only shortly, and ends at its own time", async () => {
  const site = await web(() => {});
  const clock = new ManualClock();
  const registry = bench(site.url).open({ clock, firstWaitMs: 3_000 });
  const first = registry.candidates();
  await until(() => site.asked.length === 1);
  clock.advance(3_000);
  expect(await first).toEqual({
    candidates: [],
    reason: expect.stringMatching(/still being read, 0 servers/),
  });

  expect((await registry.candidates()).reason).toMatch(/still being read/);
  clock.advance(20_000);
  await until(async () => !(await registry.candidates()).reason?.includes("still"));
  expect((await registry.candidates()).reason).toMatch(/no answer within 20000 ms/);
  expect(site.asked).toHaveLength(1);

  site.handler = pages;
  clock.advance(60_000);
  expect(names(await registry.candidates())).toEqual(ALL);
});

test("an answer that drips ends too", async () => {
  const site = await web((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const drip = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(drip));
  });
  const clock = new ManualClock();
  const registry = bench(site.url).open({ clock, bounds: { ...CRAWL_BOUNDS, requestMs: 15_000 } });
  const offer = registry.candidates();
  await until(() => site.asked.length === 1);
  clock.advance(15_000);
  expect((await offer).reason).toMatch(/no answer within 15000 ms/);
});

test("who gives up does not wait, and who comes later gets what was read meanwhile", async () => {
  const site = await web((query, response) => {
    if (!query.has("cursor")) pages(query, response, undefined as never);
  });
  const { open, home } = bench(site.url);
  const registry = open();
  const caller = new AbortController();
  const offer = registry.candidates(caller.signal);
  await until(() => site.asked.length === 2);
  caller.abort();
  expect(names(await offer)).toEqual(["s0a", "s0b"]);
  expect((await offer).reason).toMatch(/still being read, 2 servers so far/);

  await registry.close();
  site.handler = pages;
  const next = open();
  const partly = await next.candidates();
  expect(names(partly)).toEqual(["s0a", "s0b"]);
  await until(async () => names(await next.candidates()).length === ALL.length);
  expect(site.asked.slice(2)).toEqual([
    expect.stringMatching(/cursor=1$/),
    expect.stringMatching(/cursor=2$/),
  ]);
  await next.close();
  expect(await mirrors(home)).toHaveLength(1);
});

test("a list that breaks off keeps what it had, and goes on there", async () => {
  let broken = true;
  const site = await web((query, response) => {
    if (query.get("cursor") === "2" && broken) response.writeHead(503).end();
    else pages(query, response, undefined as never);
  });
  const { open } = bench(site.url);
  const first = open();
  const offer = await first.candidates();
  expect(names(offer)).toEqual(["s0a", "s0b", "s1a", "s1b"]);
  expect(offer.reason).toMatch(/read only in part \(4 servers\): .*status 503/);
  await first.close();

  broken = false;
  const second = open();
  await until(async () => names(await second.candidates()).length === ALL.length);
  expect(await second.candidates()).not.toHaveProperty("reason");
  expect(site.asked.at(-1)).toMatch(/cursor=2$/);
  expect(site.asked).toHaveLength(4);
});

test("a cursor that the registry does not take any more means to begin anew", async () => {
  let fault: number | undefined = 503;
  const site = await web((query, response) => {
    if (query.get("cursor") === "1" && fault) response.writeHead(fault).end();
    else pages(query, response, undefined as never);
  });
  const { open } = bench(site.url);
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
  expect(site.asked[3]).not.toMatch(/cursor/);
});

test("pages without end are cut, and so is a circle", async () => {
  let count = 0;
  const endless = await web((_, response) => json(response, page([`n${++count}`], `c${count}`)));
  const offer = await bench(endless.url)
    .open({ bounds: { ...CRAWL_BOUNDS, pages: 7 } })
    .candidates();
  expect(offer.candidates).toHaveLength(7);
  expect(endless.asked).toHaveLength(7);

  const heavy = await web((_, response) => json(response, page([`n${++count}`], `c${count}`)));
  await bench(heavy.url)
    .open({ bounds: { ...CRAWL_BOUNDS, totalBytes: 1_000 } })
    .candidates();
  expect(heavy.asked.length).toBeLessThan(10);

  const circle = await web((query, response) =>
    json(response, page([`c${query.get("cursor") ?? 0}`], query.get("cursor") === "1" ? "2" : "1")),
  );
  const { open } = bench(circle.url);
  expect(names(await open().candidates())).toEqual(["c0", "c1", "c2"]);
  expect(circle.asked).toHaveLength(3);
});

test("bad entries go, good ones stay, whatever stands between them", async () => {
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
  const site = await web((_, response) =>
    json(response, { servers: [item("good"), ...hostile, item("fine")], metadata: null }),
  );
  expect(names(await bench(site.url).open().candidates())).toEqual(["fine", "good"]);
});

test("a day later it answers at once from the mirror, and asks only for what changed", async () => {
  const site = await web(pages);
  const made = bench(site.url);
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
  await until(() => site.asked.length === 4);
  expect(new URL(site.asked[3] ?? "", "http://x").searchParams.get("updated_since")).toBe(
    "2026-01-10T06:00:00.000Z",
  );
  expect((await registry.candidates()).candidates).toBe(before.candidates);

  release();
  const after = await until(async () => {
    const offer = await registry.candidates();
    return offer.candidates !== before.candidates && offer;
  });
  expect(names(after)).toEqual(["new", "s0a", "s0b", "s1b", "s2a", "s2b"]);
  expect(after.candidates.find(({ name }) => name === "s0a")?.version).toBe("2.0.0");
  await registry.close();
  expect(names(await made.open().candidates())).toEqual(names(after));
  expect(site.asked).toHaveLength(4);
});

test("a registry that cannot tell changes is read whole", async () => {
  const site = await web(pages);
  const made = bench(site.url);
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

test("what is unchanged is not sent again", async () => {
  const seen: (string | undefined)[] = [];
  const site = await web((_, response, { headers }) => {
    seen.push(headers["if-none-match"]);
    if (headers["if-none-match"] === '"v1"') response.writeHead(304).end();
    else json(response, { servers: headers["x"] ? [] : [item("one")] }, { etag: '"v1"' });
  });
  const made = bench(site.url);
  const registry = made.open();
  const { candidates } = await registry.candidates();
  // Of the changes there is no tag yet; of the whole list there is, a week later.
  made.time += 8 * DAY;
  await registry.candidates();
  await until(() => seen.length === 2);
  expect(seen).toEqual([undefined, '"v1"']);
  await registry.close();
  expect((await registry.candidates()).candidates).toBe(candidates);
  expect(names(await made.open().candidates())).toEqual(["one"]);
  expect(seen).toHaveLength(2);
});

test("the tag of a first page says nothing about the others", async () => {
  const seen: (string | undefined)[] = [];
  const site = await web((query, response, { headers }) => {
    seen.push(headers["if-none-match"]);
    const more = query.has("cursor") ? undefined : "1";
    json(response, page([`p${more}`], more), { etag: '"v1"' });
  });
  const made = bench(site.url);
  const registry = made.open();
  await registry.candidates();
  made.time += 8 * DAY;
  await registry.candidates();
  await until(() => seen.length === 4);
  expect(seen).toEqual([undefined, undefined, undefined, undefined]);
});

test("a registry that is down leaves the old list, and its age is said", async () => {
  const site = await web(pages);
  const made = bench(site.url);
  const first = made.open();
  const { candidates } = await first.candidates();
  await first.close();
  await site.stop();
  made.time += 3 * DAY;
  const registry = made.open();
  const offer = await until(async () => {
    const one = await registry.candidates();
    return one.reason ? one : undefined;
  });
  expect(offer.reason).toMatch(/could not be reached \(.*ECONNREFUSED\); its list is 3 days old/);
  expect(offer.candidates).toEqual(candidates);
});

test("once a week what has vanished goes, but a list that is suddenly empty is not believed", async () => {
  const site = await web(pages);
  const made = bench(site.url);
  const registry = made.open();
  await registry.candidates();
  site.handler = (_, response) => json(response, page(["s0a"]));
  made.time += 8 * DAY;
  await until(async () => names(await registry.candidates()).join() === "s0a");
  expect(site.asked.at(-1)).not.toMatch(/updated_since/);

  site.handler = (_, response) => json(response, { servers: null, metadata: {} });
  made.time += 8 * DAY;
  await until(async () => (await registry.candidates()).reason?.includes("its list is empty"));
  expect(names(await registry.candidates())).toEqual(["s0a"]);
});

test.each<[string, (text: string) => string]>([
  ["half a file", (text) => text.slice(0, text.length / 2)],
  ["a line less", (text) => text.split("\n").toSpliced(2, 1).join("\n")],
  ["nothing", () => ""],
  ["something else", () => '{"format":"other"}\n'],
  ["no JSON", (text) => text.replaceAll("{", "")],
  ["a server that does not fit", (text) => text.replace("io.github.acme/s0a", "../../x")],
  ["another registry", (text) => text.replace(/"base":"[^"]*"/, '"base":"https://evil.example/"')],
])("a mirror with %s is none", async (_what, spoil) => {
  const site = await web(pages);
  const made = bench(site.url);
  const first = made.open();
  await first.candidates();
  await first.close();
  const path = await mirror(made.home);
  await writeFile(path, spoil(await readFile(path, "utf8")));
  expect(names(await made.open().candidates())).toEqual(ALL);
  expect(site.asked).toHaveLength(6);
});

test("a home that cannot be written costs only the mirror", async () => {
  const site = await web(pages);
  const { folder } = temp();
  await writeFile(join(folder, "home"), "a file");
  expect(names(await bench(site.url, join(folder, "home")).open().candidates())).toEqual(ALL);

  const { home } = temp();
  await mkdir(home);
  await writeFile(join(home, "registry"), "a file");
  expect(names(await bench(site.url, home).open().candidates())).toEqual(ALL);
});

test("two that begin at once read it once", async () => {
  const site = await web(pages);
  const { open } = bench(site.url);
  const offers = await Promise.all([open().candidates(), open().candidates()]);
  expect(offers.map(names)).toEqual([ALL, ALL]);
  expect(site.asked).toHaveLength(3);
});

test("credentials go where they were given for, and are neither kept nor said", async () => {
  const seen: (string | undefined)[] = [];
  const site = await web((query, response, { headers }) => {
    seen.push(headers.authorization, headers.cookie);
    if (query.has("cursor")) response.writeHead(401).end();
    else pages(query, response, undefined as never);
  });
  const made = bench(site.url.replace("http://", "http://me:s3cr%25t@"));
  const registry = made.open();
  const offer = await registry.candidates();
  expect(seen.slice(0, 2)).toEqual([`Basic ${Buffer.from("me:s3cr%t").toString("base64")}`, undefined]);
  await registry.close();
  expect(
    `${offer.reason}${await readFile(await mirror(made.home), "utf8")}${await mirror(made.home)}`,
  ).not.toMatch(/s3cr|bWU6/);

  seen.length = 0;
  await bench(site.url).open().candidates();
  expect(seen.every((one) => one === undefined)).toBe(true);
});
