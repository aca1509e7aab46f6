/**
 * Tests the docker backend without Docker. A fake `docker` command starts the host directly, so flags,
 * frames, exits and leftover containers are tested on every machine.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gone } from "../../test/support/processes.ts";
import { until } from "../../test/support/until.ts";
import { systemClock } from "../engine/system-clock.ts";
import { silentLog } from "../kernel/log.ts";
import { LazyExecutor } from "./choose.ts";
import { executorContract } from "./executor.contract.ts";
import { tryRun, valueIn } from "./try-run.ts";
import { hostFile } from "./wasm.ts";

const folder = mkdtempSync(join(tmpdir(), "metamcp-docker-"));
const journal = join(folder, "journal");
const listed = join(folder, "listed");

/** Runs the command after `run … IMAGE node`, with the path of the host in place of its path in the image. */
const FAKE_DOCKER = `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, writeFileSync, rmSync } = require("node:fs");
const { spawn } = require("node:child_process");
const args = process.argv.slice(2);
appendFileSync(${JSON.stringify(journal)}, JSON.stringify({ args, env: Object.keys(process.env) }) + "\\n");
const pidOf = (name) => ${JSON.stringify(folder)} + "/" + name;
if (args[0] === "ps") process.stdout.write(existsSync(${JSON.stringify(listed)}) ? readFileSync(${JSON.stringify(listed)}) : "");
if (args[0] === "kill" && existsSync(pidOf(args[1]))) process.kill(Number(readFileSync(pidOf(args[1]), "utf8")), "SIGKILL");
if (args[0] === "run") {
  const name = args[args.indexOf("--name") + 1];
  const command = args.slice(args.indexOf("metamcp-sandbox:1") + 2).map((arg) => (arg === "/sandbox/host.js" ? ${JSON.stringify(hostFile())} : arg));
  // A container outlives the Docker CLI too.
  const child = spawn(process.execPath, command, { stdio: "inherit", env: {}, detached: true });
  writeFileSync(pidOf(name), String(child.pid));
  child.on("exit", (code) => { rmSync(pidOf(name)); process.exit(code ?? 137); });
}
`;

const before = process.env["PATH"];
beforeAll(() => {
  writeFileSync(join(folder, "docker"), FAKE_DOCKER);
  chmodSync(join(folder, "docker"), 0o755);
  process.env["PATH"] = `${folder}${delimiter}${before ?? ""}`;
  process.env["METAMCP_CANARY"] = "secret";
});
afterAll(() => {
  process.env["PATH"] = before;
  delete process.env["METAMCP_CANARY"];
  rmSync(folder, { recursive: true });
});

interface Invocation {
  readonly args: readonly string[];
  readonly env: readonly string[];
}
const invocations = (): Invocation[] =>
  readFileSync(journal, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Invocation);

const parts = { clock: systemClock, log: silentLog };
const create = (): LazyExecutor => new LazyExecutor({ backend: "docker" }, parts);

executorContract("docker with a fake docker command", create);

test("each run gets its own container, without the environment of MetaMCP", async () => {
  const executor = create();
  const outcomes = await Promise.all([1, 2].map(() => tryRun(executor, "[process.pid, process.env]")));
  const [one, other] = outcomes.map((outcome) => valueIn(outcome) as [number, object]);
  expect(one?.[0]).not.toBe(other?.[0]);
  expect(one?.[1]).toEqual({});
  for (const { backend, unsafe, enforced } of outcomes) {
    expect([backend, unsafe]).toEqual(["docker", false]);
    expect(enforced).not.toContain("memoryBytes");
  }
  expect(invocations().some(({ env }) => env.includes("METAMCP_CANARY"))).toBe(false);
  await executor.close();
});

test("a container that does not exit after its run is killed by name, not only its CLI process", async () => {
  const executor = create();
  const stay =
    "process.stdin.removeAllListeners(); process.exit = () => {}; process.stdout.on('error', () => {}); process.pid";
  const pid = valueIn(await tryRun(executor, stay)) as number;
  const name = invocations().findLast(({ args }) => args[0] === "run")?.args[5] ?? "";
  expect(name).toMatch(/^metamcp-[0-9a-f]{16}$/);
  await until(() => invocations().some(({ args }) => args[0] === "kill" && args[1] === name));
  await gone([pid]);
  await executor.close();
});

test("the first run kills containers that a killed gateway left behind, and no others", async () => {
  const dead = 2 ** 22 - 7;
  writeFileSync(
    listed,
    [`left ${hostname()}:${dead}`, `own ${hostname()}:${process.pid}`, `far elsewhere:${dead}`, "odd"].join(
      "\n",
    ),
  );
  const executor = create();
  expect(valueIn(await tryRun(executor, "1"))).toBe(1);
  await until(() => invocations().some(({ args }) => args.join(" ") === "kill left"));
  const killed = invocations().flatMap(({ args }) => (args[0] === "kill" ? [args[1]] : []));
  expect(killed).not.toContain("own");
  expect(killed).not.toContain("far");
  await executor.close();
});
