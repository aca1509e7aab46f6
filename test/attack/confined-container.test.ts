/** A confined server in a container of each engine that runs containers here. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { engineFor } from "../../src/config/container-engine.ts";
import { confined, EVALUATOR, OPEN } from "../support/confined.ts";
import { testEngines } from "../support/container-image.ts";
import { gateway } from "../support/gateway.ts";
import { shared } from "../support/shared.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const STAYS = "setInterval(() => {}, 1e6); process.on('SIGINT', () => {})";
const nameOf = (pids: () => readonly number[]): string =>
  /--name=([^\0]+)/.exec(readFileSync(`/proc/${Math.min(...pids())}/cmdline`, "utf8"))?.[1] ?? "";
const node = { command: "node" } as const;
const engines = testEngines();

if (engines.length === 0) test.skip("containers (skipped: neither docker nor podman is installed)", () => {});
for (const { name, whyNot } of engines)
  if (whyNot !== undefined) test.skip(`containers of ${name} (skipped: ${whyNot})`, () => {});

const usable = engines.filter(({ whyNot }) => whyNot === undefined);

describe.each(usable)("a server in a container of $name", { timeout: 60_000 }, ({ image, run }) => {
  const IN = { image, network: "none" } as const;
  const cannotLimit = typeof engineFor({ ...OPEN, image, memoryMb: 100 }) === "string";
  /** Also those that are being removed. */
  const left = (): string => run("ps", "-a", "--format={{.Names}}");
  const one = shared(() =>
    confined(
      (folder) => {
        mkdirSync(folder.path("listed/.ssh"), { recursive: true });
        mkdirSync(folder.path("own"));
        writeFileSync(folder.path("listed/a"), "a");
        return { ...IN, read: [folder.path("listed")], folder: folder.path("own") };
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
    const atHome = join(homedir(), `.metamcp-test-${randomBytes(6).toString("hex")}`);
    onTestFinished(() => rmSync(atHome));
    for (const path of [join(folder.home, "mcp.json"), atHome]) writeFileSync(path, "secret");
    for (const path of [join(folder.home, "mcp.json"), atHome, "/var/run/docker.sock"])
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

  const unlimited = cannotLimit ? " (skipped: this engine cannot limit memory here)" : "";
  test.skipIf(cannotLimit)(
    `memory beyond the limit is not given to all of it together${unlimited}`,
    async () => {
      const { inside } = await confined(() => ({ ...IN, memoryMb: 100 }), node);
      const hog =
        "const { spawnSync } = await load('child_process'); const { signal } = spawnSync('node', ['-e', 'Buffer.alloc(300e6, 1); process.exit(0)']); return signal";
      expect(await inside(hog)).toBe("SIGKILL");
    },
  );

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
    expect(left()).toContain(name);
    await link.close();
    expect(left()).not.toContain(name);
    expect(existsSync(folder.path("ended"))).toBe(true);
  });

  test("a container ends with the command that started it, also if that is killed", async () => {
    const { inside, pids } = await confined(() => IN, node);
    await inside(`${STAYS}; return 1`);
    const name = nameOf(pids);
    expect(left()).toContain(name);
    process.kill(Math.min(...pids()), "SIGKILL");
    await until(() => !left().includes(name), { what: "the end of its container" });
  });

  test("a program that the image does not have is named", async () => {
    await expect(confined(() => IN, { command: "no-such-program" })).rejects.toThrow(
      `The image ${image} has no program no-such-program`,
    );
  });

  test.each(["stop", "kill"] as const)(
    "a %s of MetaMCP leaves no container that the next start does not remove",
    async (how) => {
      const folder = temp();
      const server = fixture("--ignore-eof", "--ignore-sigterm");
      folder.writeConfig({ stays: { ...server, ...node, sandbox: IN } });
      const client = gateway(folder);
      await client.initialize();
      await client.mcpCall("stays", "pid");
      const container = `metamcp-${client.pid}-`;
      const names = (): readonly string[] =>
        left()
          .split("\n")
          .filter((one) => one.startsWith(container));
      onTestFinished(() => void names().map((one) => run("rm", "-f", one)));
      expect(names()).toHaveLength(1);
      if (how === "stop") {
        await client.close();
        expect(names()).toEqual([]);
        return;
      }
      client.kill("SIGKILL");
      await client.exited;
      expect(names()).toHaveLength(1);
      const next = gateway(folder);
      await next.initialize();
      await until(() => names().length === 0, { what: "the end of the container" });
      await next.close();
    },
  );
});
