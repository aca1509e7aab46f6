/**
 * Memory per client, and no memory left after clients have gone. Counts the bytes in use after a garbage
 * collection, so the load of the machine does not matter.
 */
import { readFileSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { envelope, era2026Headers } from "../../support/eras.ts";
import { type HttpGateway, httpGateway } from "../../support/http-gateway.ts";
import { open, pipelined, requestText } from "../../support/raw-http.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const PROBE = fileURLToPath(new URL("../../support/memory-probe.mjs", import.meta.url));
/** `METAMCP_REQUESTS=100000` for the full run. */
const REQUESTS = Number(process.env["METAMCP_REQUESTS"] ?? 6_000);
const SESSIONS = 1_000;
/** Each stream needs a socket at both ends. */
const STREAMS = 200;
const KB = 1024;
const posix = process.platform !== "win32";

interface Measured extends HttpGateway {
  /** Bytes in use after a garbage collection. */
  used(): Promise<number>;
}

async function measuredGateway(): Promise<Measured> {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const file = folder.path("probe");
  const env = { ...folder.env, NODE_OPTIONS: `--import ${PROBE}`, PROBE_FILE: file };
  const gateway = await httpGateway({ ...folder, env });
  return {
    ...gateway,
    async used() {
      rmSync(file, { force: true });
      process.kill(gateway.pid, "SIGUSR2");
      return await until(() => {
        try {
          return (JSON.parse(readFileSync(file, "utf8")) as { used: number }).used;
        } catch {
          return undefined;
        }
      });
    },
  };
}

async function openMany(gateway: HttpGateway, count: number): Promise<Record<string, string>[]> {
  const opened: Record<string, string>[] = [];
  while (opened.length < count)
    opened.push(...(await Promise.all(Array.from({ length: 20 }, () => gateway.open()))));
  return opened;
}

/** Opens the standing stream of a session and waits for its response headers. */
function listen({ url }: HttpGateway, session: Record<string, string>): Promise<Socket> {
  const socket = open(url);
  const headers = { ...session, accept: "text/event-stream", "content-length": "0" };
  socket.write(requestText(url, { method: "GET", headers }));
  return new Promise((resolve, reject) => {
    socket.once("data", (head) => {
      if (head.toString().startsWith("HTTP/1.1 200")) resolve(socket.resume());
      else reject(new Error(head.toString()));
    });
  });
}

function listenAll(gateway: HttpGateway, sessions: readonly Record<string, string>[]): Promise<Socket[]> {
  return Promise.all(sessions.slice(0, STREAMS).map((session) => listen(gateway, session)));
}

async function leave(
  { url }: HttpGateway,
  sessions: readonly Record<string, string>[],
  streams: readonly Socket[],
): Promise<void> {
  for (const stream of streams) stream.destroy();
  for (const headers of sessions) await fetch(url, { method: "DELETE", headers });
}

test.runIf(posix)("1,000 sessions use at most 10 KB each, and 25 KB with an open stream", async () => {
  const gateway = await measuredGateway();
  // One-time allocations, made for the first clients, do not count.
  const first = await openMany(gateway, SESSIONS);
  await leave(gateway, first, await listenAll(gateway, first));
  await openMany(gateway, 100);
  const before = await gateway.used();
  const sessions = await openMany(gateway, SESSIONS);
  const idle = await gateway.used();
  expect((idle - before) / SESSIONS).toBeLessThan(10 * KB);
  const streams = await listenAll(gateway, sessions);
  const listening = await gateway.used();
  expect((idle - before) / SESSIONS + (listening - idle) / STREAMS).toBeLessThan(25 * KB);
  await leave(gateway, sessions, streams);
  await until(async () => (await gateway.used()) - before < 0.3 * (idle - before), {
    within: 30_000,
    what: "the memory to be freed",
  });
  await gateway.stop();
});

const call = (id: number, _meta?: object): object => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "mcp_call", arguments: { server: "a", tool: "echo", args: { message: "m" } }, _meta },
});

/**
 * Sends calls of both eras over several sockets, one after the other on each, and opens and closes sessions.
 */
async function flood(gateway: HttpGateway, count: number, first: number): Promise<void> {
  const SOCKETS = 8;
  const session = await gateway.open();
  const params = { name: "mcp_call" };
  const kinds = [
    (id: number) => ({ headers: session, body: JSON.stringify(call(id)) }),
    (id: number) => ({
      headers: era2026Headers("tools/call", params),
      body: JSON.stringify(call(id, envelope({}))),
    }),
  ];
  const each = Math.ceil(count / SOCKETS);
  const sockets = Array.from({ length: SOCKETS }, (_, n) => {
    const requests = Array.from({ length: each }, (_, i) =>
      requestText(gateway.url, kinds[n % kinds.length]?.(first + n * each + i) ?? {}),
    );
    return pipelined(gateway.url, requests);
  });
  for (const statuses of await Promise.all(sockets)) expect(new Set(statuses)).toEqual(new Set([200]));
  for (const headers of await openMany(gateway, 40)) await fetch(gateway.url, { method: "DELETE", headers });
  await fetch(gateway.url, { method: "DELETE", headers: session });
}

test.runIf(posix)(
  `after ${REQUESTS} requests the memory in use has not grown`,
  { timeout: 600_000 },
  async () => {
    const gateway = await measuredGateway();
    const ROUND = 2_000;
    await flood(gateway, ROUND, 1);
    await flood(gateway, ROUND, 1 + ROUND);
    const before = await gateway.used();
    for (let done = 0; done < REQUESTS; done += ROUND) await flood(gateway, ROUND, (done + 3) * ROUND);
    // Memory kept per request would exceed this. Compiled code and a few late timers do not.
    expect((await gateway.used()) - before).toBeLessThan(2 * KB * KB);
    await gateway.stop();
  },
);
