/** Attempts of a confined server to get past the proxy, which is its only way out. */
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type Attempt, Egress } from "../../src/child/stdio/confine/egress.ts";
import { NetworkHosts } from "../../src/config/network-host.ts";
import { confined, WHY_NOT } from "../support/confined.ts";
import { temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

async function listening<S extends Server>(server: S): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A web server that remembers what it was asked. */
async function web(
  answer: (message: IncomingMessage) => readonly [number, Record<string, string>] = () => [200, {}],
) {
  const asked: string[] = [];
  const server = createHttpServer((message, response) => {
    asked.push(`${message.method} ${message.headers.host}${message.url}`);
    response.writeHead(...(answer(message) as [number, Record<string, string>])).end("hello");
  });
  return { port: await listening(server), asked };
}

async function egress(hosts: readonly string[], names: Readonly<Record<string, readonly string[]>> = {}) {
  const attempts: Attempt[] = [];
  const resolved: string[] = [];
  const open = await Egress.open({
    home: temp().folder,
    hosts: () => new NetworkHosts(hosts),
    onAttempt: (attempt) => void attempts.push(attempt),
    forOtherUser: false,
    resolve: async (name) => {
      resolved.push(name);
      return (names[name] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    },
  });
  onTestFinished(() => open.close());
  /** Everything that the proxy answers until it or we end the connection. */
  const say = async (text: string, until = /\r\n\r\n/): Promise<string> =>
    await new Promise((resolve, reject) => {
      const socket = connect(open.socket, () => socket.write(text));
      let heard = "";
      const done = (): void => {
        socket.destroy();
        resolve(heard);
      };
      socket.on("data", (bytes) => {
        heard += String(bytes);
        if (until.test(heard)) done();
      });
      socket.on("end", done);
      socket.on("error", reject);
    });
  return { say, attempts, resolved, open };
}

const tunnel = (to: string): string => `CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`;

test("a listed host is reached at the address that was checked, and resolved once", async () => {
  const { port, asked } = await web();
  const { say, resolved, attempts } = await egress([`api.test:${port}`, `127.0.0.1:${port}`], {
    "api.test": ["127.0.0.1"],
  });
  expect(await say(tunnel(`API.test.:${port}`))).toMatch(/^HTTP\/1.1 200/);
  expect(await say(`GET http://api.test:${port}/a HTTP/1.1\r\nHost: other.test\r\n\r\n`, /hello/)).toMatch(
    /^HTTP\/1.1 200/,
  );
  expect(asked).toEqual([`GET api.test:${port}/a`]);
  expect(resolved).toEqual(["api.test", "api.test"]);
  expect(attempts).toEqual(Array(2).fill({ host: "api.test", port, refused: undefined }));
});

test.each([
  ["another host", "evil.test:443"],
  ["another port of a listed host", "api.test:22"],
  ["the name without its subdomain", "wild.test:443"],
  ["a name that only ends alike", "evilwild.test:443"],
  ["an address in decimal", "2130706433:443"],
  ["an address in hexadecimal", "0x7f000001:443"],
  ["a short address", "127.1:443"],
  ["an address instead of the name", "127.0.0.1:443"],
  ["a mapped address", "[::ffff:127.0.0.1]:443"],
  ["this machine", "localhost:443"],
  ["metadata of the cloud", "169.254.169.254:80"],
])("a tunnel to %s is refused", async (_what, to) => {
  const { say, attempts, resolved } = await egress(["api.test", "*.wild.test"]);
  expect(await say(tunnel(to))).toMatch(/^HTTP\/1.1 403/);
  expect(attempts).toMatchObject([{ refused: expect.stringContaining("is not in the") }]);
  expect(resolved).toEqual([]);
});

test.each([
  "127.0.0.1",
  "10.1.2.3",
  "169.254.169.254",
  "100.100.100.200",
  "0.0.0.0",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:10.0.0.1",
  "64:ff9b::a00:1",
  "fd00:ec2::254",
  "fe80::1",
])("a listed name that leads to %s is refused", async (address) => {
  const { say, attempts } = await egress(["api.test"], { "api.test": [address] });
  expect(await say(tunnel("api.test:443"))).toMatch(/^HTTP\/1.1 403/);
  expect(await say("GET http://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n")).toMatch(/^HTTP\/1.1 403/);
  expect(attempts.map(({ refused }) => refused)).toEqual(
    Array(2).fill(expect.stringContaining("not public")),
  );
});

test("a private address among public ones is not used", async () => {
  const { port, asked } = await web();
  const hosts = [`api.test:${port}`, `10.255.255.1:${port}`];
  const { say } = await egress(hosts, { "api.test": ["127.0.0.1", "10.255.255.1"] });
  const refused = await Promise.race([
    say(`GET http://api.test:${port}/ HTTP/1.1\r\n\r\n`),
    until(() => true),
  ]);
  expect(String(refused)).not.toContain("hello");
  expect(asked).toEqual([]);
});

test("a redirect goes back to the server, whose next request is checked", async () => {
  const inner = await web();
  const outer = await web(() => [302, { location: `http://127.0.0.1:${inner.port}/secret` }]);
  const { say } = await egress([`api.test:${outer.port}`, `127.0.0.1:${outer.port}`], {
    "api.test": ["127.0.0.1"],
  });
  expect(await say(`GET http://api.test:${outer.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 302/,
  );
  expect(await say(`GET http://127.0.0.1:${inner.port}/secret HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(/ 403 /);
  expect(inner.asked).toEqual([]);
});

test.each([
  ["a path instead of an address", "GET /etc HTTP/1.1\r\nHost: api.test\r\n\r\n", /^HTTP\/1.1 400/],
  ["another scheme", "GET ftp://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n", /^HTTP\/1.1 400/],
  [
    "a user name that looks like a host",
    "GET http://api.test@evil.test/ HTTP/1.1\r\nHost: x\r\n\r\n",
    /^HTTP\/1.1 400/,
  ],
  ["a tunnel without a port", "CONNECT api.test HTTP/1.1\r\nHost: api.test\r\n\r\n", /^HTTP\/1.1 400/],
  ["a tunnel with a path", "CONNECT api.test:443/x HTTP/1.1\r\nHost: x\r\n\r\n", /^HTTP\/1.1 400/],
  [
    "two lengths",
    "POST http://api.test/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1.1 400/,
  ],
  [
    "huge headers",
    `GET http://api.test/ HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(100_000)}\r\n\r\n`,
    /^HTTP\/1.1 431/,
  ],
  ["no HTTP", "\x16\x03\x01\x02\x00\x01\r\n\r\n", /^HTTP\/1.1 400/],
])("%s is refused", async (_what, text, answer) => {
  const { say, resolved } = await egress(["api.test"]);
  expect(await say(text)).toMatch(answer);
  expect(resolved).toEqual([]);
});

test("headers between server and proxy go no further", async () => {
  const seen: IncomingMessage["headers"][] = [];
  const { port } = await web(({ headers }) => {
    seen.push(headers);
    return [200, {}];
  });
  const { say } = await egress([`127.0.0.1:${port}`]);
  const headers =
    "Host: x\r\nProxy-Authorization: Basic c2VjcmV0\r\nConnection: X-Hop\r\nX-Hop: 1\r\nX-Kept: 2\r\n";
  await say(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\n${headers}\r\n`, /hello/);
  expect(seen[0]).toEqual({ host: `127.0.0.1:${port}`, connection: "close", "x-kept": "2" });
});

test("closing the proxy ends all tunnels", async () => {
  let ended = false;
  const port = await listening(
    createServer((socket) => void socket.on("close", () => (ended = true)).on("error", () => {})),
  );
  const { open } = await egress([`127.0.0.1:${port}`]);
  const socket = connect(open.socket, () => socket.write(tunnel(`127.0.0.1:${port}`)));
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("data", resolve));
  await open.close();
  await until(() => ended && socket.destroyed, { what: "the end of the tunnel" });
});

const skipped = WHY_NOT === undefined ? "" : ` (skipped: ${WHY_NOT})`;

test.skipIf(skipped !== "")(
  `inside, programs use the proxy and nothing else leads out${skipped}`,
  async () => {
    const far = await web();
    const { port, asked } = await web();
    const { inside } = await confined(() => ({ network: [`127.0.0.1:${port}`] }));
    const variables = await inside(
      "const { HTTP_PROXY, https_proxy, NODE_USE_ENV_PROXY } = process.env; return { HTTP_PROXY, https_proxy, NODE_USE_ENV_PROXY }",
    );
    expect(variables).toEqual({
      HTTP_PROXY: "http://127.0.0.1:3128",
      https_proxy: "http://127.0.0.1:3128",
      NODE_USE_ENV_PROXY: "1",
    });
    const get = async (path: string) =>
      await inside(
        "const http = await load('http'); return await new Promise((done, failed) => http.get({ host: '127.0.0.1', port: 3128, path: given }, (answer) => { answer.resume(); answer.on('end', () => done(answer.statusCode)); }).on('error', failed))",
        path,
      );
    // Many at once, because the forwarder serves them in one process.
    expect(await Promise.all(Array.from({ length: 20 }, () => get(`http://127.0.0.1:${port}/`)))).toEqual(
      Array(20).fill(200),
    );
    expect(await get(`http://127.0.0.1:${far.port}/`)).toBe(403);
    const direct = await inside(
      "const net = await load('net'); return await new Promise((done, failed) => net.connect({ host: '127.0.0.1', port: given }).on('connect', () => done('connected')).on('error', failed))",
      port,
    );
    expect(direct).toEqual({ error: "ECONNREFUSED" });
    expect(
      await inside("return (await (await load('dns/promises')).resolve4('example.com')).length"),
    ).toEqual({
      error: expect.stringMatching(/ECONNREFUSED|ENOTFOUND|ETIMEOUT/),
    });
    expect(asked).toHaveLength(20);
    expect(far.asked).toEqual([]);
  },
);

test.skipIf(skipped !== "")("large bodies pass whole in both directions through the forwarder", async () => {
  let got = 0;
  const port = await listening(
    createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        got += bytes.length;
        if (got === 5_000_000) socket.end(Buffer.alloc(5_000_000, 2));
      });
    }),
  );
  const { inside } = await confined(() => ({ network: [`127.0.0.1:${port}`] }));
  const heard = await inside(
    "const net = await load('net'); return await new Promise((done, failed) => { let heard = -1; const socket = net.connect(3128, '127.0.0.1', () => socket.write(`CONNECT 127.0.0.1:${given} HTTP/1.1\\r\\n\\r\\n`)); socket.on('data', (bytes) => { if (heard < 0) { heard = 0; socket.write(Buffer.alloc(5000000, 1)); } else heard += bytes.length; }); socket.on('end', () => done(heard)).on('error', failed); })",
    port,
  );
  expect(heard).toBe(5_000_000);
});
