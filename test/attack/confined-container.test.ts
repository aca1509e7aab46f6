/**
 * A confined server in a container of a real engine. METAMCP_TEST_IMAGE names an image with node and perl that
 * the engine has, such as node:22-slim.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { engineFor } from "../../src/config/container-engine.ts";
import { confined, EVALUATOR, OPEN } from "../support/confined.ts";
import { shared } from "../support/shared.ts";
import { until } from "../support/until.ts";

const image = process.env["METAMCP_TEST_IMAGE"] ?? "";
const engine = image === "" ? "METAMCP_TEST_IMAGE is not set" : engineFor({ ...OPEN, image });
const IN = { image, network: "none" } as const;
const STAYS = "setInterval(() => {}, 1e6); process.on('SIGINT', () => {})";
const running = (): string => {
  if (typeof engine === "string") return "";
  return execFileSync(engine.path, ["ps", "--format={{.Names}}"], { encoding: "utf8" });
};
const nameOf = (pids: () => readonly number[]): string =>
  /--name=([^\0]+)/.exec(readFileSync(`/proc/${Math.min(...pids())}/cmdline`, "utf8"))?.[1] ?? "";
const why = typeof engine === "string" ? ` (skipped: ${engine})` : "";
const node = { command: "node" } as const;

describe.skipIf(why !== "")(`a server in a container${why}`, { timeout: 60_000 }, () => {
  const one = shared(() =>
    confined(
      (folder) => {
        mkdirSync(folder.path("listed/.ssh"), { recursive: true });
        mkdirSync(folder.path("own"));
        writeFileSync(folder.path("listed/a"), "a");
        return { ...IN, read: [folder.path("listed")], folder: folder.path("own"), memoryMb: 200 };
      },
      { ...node, variables: { API_KEY: "secret-value", DOCKER_HOST: "tcp://127.0.0.1:1" } },
    ),
  );
  const read = async (path: string) =>
    await one().inside("return (await load('fs')).readFileSync(given, 'utf8')", path);
  const write = async (path: string) =>
    await one().inside("(await load('fs')).writeFileSync(given, 'x'); return 'written'", path);

  test("reads and writes what is listed, its home and temporary files, and nothing else", async () => {
    const { folder, inside } = one();
    expect(await write(folder.path("own/x"))).toBe("written");
    expect(readFileSync(folder.path("own/x"), "utf8")).toBe("x");
    expect(await read(folder.path("listed/a"))).toBe("a");
    expect(await write("/tmp/x")).toBe("written");
    expect(existsSync("/tmp/x")).toBe(false);
    const home = String(await inside("return process.env.HOME"));
    expect(home.startsWith(join(folder.home, "servers"))).toBe(true);
    expect(await write(join(home, "x"))).toBe("written");
    for (const path of [folder.path("listed/b"), "/usr/x", "/etc/x", "/x", EVALUATOR])
      expect(await write(path), path).toEqual({ error: expect.stringMatching(/EROFS|EACCES/) });
    writeFileSync(join(folder.home, "mcp.json"), "secret");
    for (const path of [join(folder.home, "mcp.json"), homedir(), "/var/run/docker.sock", "/etc/shadow"])
      expect(await read(path), path).toEqual({ error: "ENOENT" });
  });

  test("has no capabilities, sees only its own processes, and no network", async () => {
    const status = String(await read("/proc/self/status"));
    expect(status).toMatch(/NoNewPrivs:\t1/);
    expect(status).toMatch(/CapBnd:\t0+\n/);
    const seen = "return (await load('fs')).readdirSync('/proc').filter((one) => /^\\d+$/.test(one)).length";
    expect(await one().inside(seen)).toBeLessThan(6);
    const connect =
      "const net = await load('net'); return await new Promise((done, failed) => net.connect(given).on('connect', () => done('connected')).on('error', failed))";
    expect(await one().inside(connect, { port: 80, host: "192.0.2.1" })).toEqual({
      error: expect.stringMatching(/ENETUNREACH|EADDRNOTAVAIL/),
    });
  });

  test("gets its variables, whose values are in no argument, and none of ours", async () => {
    const { inside, pids } = one();
    expect(await inside("return [process.env.API_KEY, process.env.DOCKER_HOST]")).toEqual([
      "secret-value",
      "tcp://127.0.0.1:1",
    ]);
    const arguments_ = pids().map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
    expect(arguments_.join()).toContain("--read-only");
    expect(arguments_.join()).not.toContain("secret-value");
    expect(await inside("return Object.keys(process.env)")).not.toContain("VITEST");
  });

  test("memory beyond the limit is not given to all of it together", async () => {
    const { inside } = await confined(() => ({ ...IN, memoryMb: 100 }), node);
    const hog =
      "const { spawnSync } = await load('child_process'); const { signal } = spawnSync('node', ['-e', 'Buffer.alloc(300e6, 1); process.exit(0)']); return signal";
    expect(await inside(hog)).toBe("SIGKILL");
  });

  test("reaches a listed host through the proxy, and no other", async () => {
    const asked: string[] = [];
    const server = createServer((message, answer) => {
      asked.push(message.url ?? "");
      answer.end("hello");
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await until(() => server.listening, { what: "a server" });
    const { port } = server.address() as AddressInfo;
    const { inside } = await confined(() => ({ image, network: [`127.0.0.1:${port}`] }), node);
    const get = async (path: string) =>
      await inside(
        "const http = await load('http'); return await new Promise((done, failed) => http.get({ host: '127.0.0.1', port: 3128, path: given }, (answer) => { answer.resume(); answer.on('end', () => done(answer.statusCode)); }).on('error', failed))",
        path,
      );
    expect(await get(`http://127.0.0.1:${port}/a`)).toBe(200);
    expect(await get(`http://127.0.0.1:${port + 1}/`)).toBe(403);
    expect(asked).toEqual(["/a"]);
  });

  test("under a floor its script must be in the places of the floor", async () => {
    await expect(confined(() => ({ ...IN, within: ["/nowhere"] }), node)).rejects.toThrow(
      "does not allow servers to read",
    );
    const allowed = await confined(() => ({ ...IN, within: [dirname(dirname(dirname(EVALUATOR)))] }), node);
    expect(await allowed.inside("return 1")).toBe(1);
  });

  test("a server that stays when its input ends gets SIGTERM, and no container is left", async () => {
    const { inside, link, folder, pids } = await confined(
      (place) => ({ ...IN, folder: place.path(".") }),
      node,
    );
    await inside(`${STAYS}; process.env.ENDED_FILE = given; return 1`, folder.path("ended"));
    const name = nameOf(pids);
    expect(running()).toContain(name);
    await link.close();
    expect(running()).not.toContain(name);
    expect(existsSync(folder.path("ended"))).toBe(true);
  });

  test("a container ends with the command that started it, also if that is killed", async () => {
    const { inside, pids } = await confined(() => IN, node);
    await inside(`${STAYS}; return 1`);
    const name = nameOf(pids);
    expect(running()).toContain(name);
    process.kill(Math.min(...pids()), "SIGKILL");
    await until(() => !running().includes(name), { what: "the end of its container" });
  });
});
