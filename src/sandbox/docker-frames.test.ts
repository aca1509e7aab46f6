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
const environments = join(folder, "environments");
const listed = join(folder, "listed");

/**
 * Runs the command after `run … IMAGE node`, with the path of the host in place of its path in the image. A
 * shell script, because a second Node would cost as much as the host.
 */
const FAKE_DOCKER = `#!/bin/sh
line=$(printf '%s\\t' "$@")
printf '%s\\n' "$line" >> "${journal}"
env >> "${environments}"
case $1 in
ps) cat "${listed}" 2>/dev/null ;;
kill) [ ! -e "${folder}/$2" ] || kill -KILL "$(cat "${folder}/$2")" ;;
run)
  while [ "$1" != metamcp-sandbox:1 ]; do
    [ "$1" != --name ] || file="${folder}/$2"
    shift
  done
  shift 2
  for one; do
    shift
    [ "$one" != /sandbox/host.js ] || one="${hostFile()}"
    set -- "$@" "$one"
  done
  # A container outlives the Docker CLI too. The shell gives a command in the background no input of its own.
  exec 3<&0
  env -i "${process.execPath}" "$@" <&3 3<&- &
  echo $! > "$file"
  wait $!
  code=$?
  rm "$file"
  exit $code
esac
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

/** The arguments of each invocation. */
const invocations = (): string[][] =>
  readFileSync(journal, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));

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
  expect(readFileSync(environments, "utf8")).toContain("PATH=");
  expect(readFileSync(environments, "utf8")).not.toContain("METAMCP_CANARY");
  await executor.close();
});

test("a container that does not exit after its run is killed by name, not only its CLI process", async () => {
  const executor = create();
  const stay =
    "process.stdin.removeAllListeners(); process.exit = () => {}; process.stdout.on('error', () => {}); process.pid";
  const pid = valueIn(await tryRun(executor, stay)) as number;
  const name = invocations().findLast(([command]) => command === "run")?.[5] ?? "";
  expect(name).toMatch(/^metamcp-[0-9a-f]{16}$/);
  await until(() => invocations().some(([command, killed]) => command === "kill" && killed === name));
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
  await until(() => invocations().some(([command, killed]) => command === "kill" && killed === "left"));
  const killed = invocations().flatMap(([command, name]) => (command === "kill" ? [name] : []));
  expect(killed).not.toContain("own");
  expect(killed).not.toContain("far");
  await executor.close();
});
