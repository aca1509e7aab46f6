import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { describe, expect, onTestFinished, test } from "vitest";
import { alive, childrenOf, gone, kill, processesWithEnv } from "../../../test/support/processes.ts";
import { ODD_CHILD } from "../../../test/support/stdio.ts";
import { temp } from "../../../test/support/temp.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../../engine/system-clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { type GatewayId, MARK, Marker, nest } from "./mark.ts";
import { endOrphans } from "./orphans.ts";
import { readProcess } from "./processes.ts";
import { endRecorded, RunRecord } from "./record.ts";
import { end } from "./stop.ts";

/** No pid namespace has this number, so that only processes of these tests are found. */
const space = `99${process.pid}`;
const options = { log: silentLog, clock: systemClock, space };

/** Starts a process with these marks that keeps running. Resolves when it is ready. */
async function stray(marks: string, traits: string[] = []): Promise<number> {
  const child = spawn(process.execPath, [ODD_CHILD, "stay", ...traits], {
    env: { ...process.env, [MARK]: marks },
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const pid = child.pid as number;
  onTestFinished(() => kill(pid));
  await once(child, "message");
  return pid;
}

function identify(pid: number): GatewayId {
  return { space, pid, start: readProcess(pid)?.start ?? "" };
}

/** A running process that stands for a gateway. */
async function livingGateway(): Promise<GatewayId> {
  return identify(await stray("none"));
}

async function deadGateway(): Promise<GatewayId> {
  const gateway = await livingGateway();
  kill(gateway.pid);
  await gone(gateway.pid);
  return gateway;
}

describe.runIf(process.platform === "linux")("orphans found by their mark", () => {
  test("processes of a dead gateway are ended, even if they ignore SIGTERM, and those of a running gateway are not", async () => {
    const [dead, living] = [await deadGateway(), await livingGateway()];
    const [left, kept] = [new Marker(dead).next("a"), new Marker(living).next("a")];
    const reused = new Marker({ ...living, start: "1" }).next("a");
    const elsewhere = new Marker({ ...dead, space: `98${process.pid}` }).next("a");

    const ended = await Promise.all([
      stray(left),
      stray(left, ["deaf"]),
      stray(reused),
      stray(nest(kept, left)),
      stray(nest(left, left)),
    ]);
    const spared = await Promise.all([
      stray(kept),
      stray(nest(left, kept)),
      stray(elsewhere),
      stray("garbage"),
      stray(""),
    ]);
    await endOrphans(options);
    expect(ended.filter(alive)).toEqual([]);
    expect(spared.filter(alive)).toEqual(spared);
    expect(alive(living.pid)).toBe(true);
  });

  test("the own process and its ancestors are not ended, whatever their mark", async () => {
    const { write, path } = temp();
    const marks = new Marker(await deadGateway()).next("terminal");
    const sibling = await stray(marks);
    const source = fileURLToPath(new URL("orphans.ts", import.meta.url));
    const entry = write(
      "entry.ts",
      `import { endOrphans } from ${JSON.stringify(source)};
       const log = { debug() {}, info() {}, warn() {}, error() {} };
       const clock = { now: () => performance.now(), after: (ms, run) => { setTimeout(run, ms); return { cancel() {} }; } };
       await endOrphans({ log, clock, space: ${JSON.stringify(space)} });
       console.log("done");`,
    );
    await build({ input: entry, platform: "node", output: { file: path("entry.mjs") }, logLevel: "silent" });
    const parent = write(
      "parent.mjs",
      `import { execFileSync } from "node:child_process";
       process.stdout.write(execFileSync(process.execPath, [${JSON.stringify(path("entry.mjs"))}]));
       process.stdout.write("alive");`,
    );
    const child = spawn(process.execPath, [parent], { env: { ...process.env, [MARK]: marks } });
    expect(await output(child)).toBe("done\nalive");
    expect(alive(sibling)).toBe(false);
  });

  test("processes of a gateway are ended once it was killed", async () => {
    const { write } = temp();
    const name = `left-${process.pid}`;
    const script = write(
      "gateway.mjs",
      `import { spawn } from "node:child_process";
       import { readFileSync } from "node:fs";
       const stat = readFileSync("/proc/self/stat", "latin1");
       const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
       const mark = \`${space}.\${process.pid}.\${start}.abc/1-${name}\`;
       spawn(process.execPath, [${JSON.stringify(ODD_CHILD)}, "deaf", "grandchild=deaf", "stray=deaf"], {
         env: { ...process.env, ${MARK}: mark }, detached: true, stdio: ["pipe", "inherit", "inherit"],
       });`,
    );
    const gateway = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => processesWithEnv(MARK, name).forEach(kill));
    await once(gateway.stdout, "data");
    const left = processesWithEnv(MARK, name);
    expect(left).toHaveLength(3);

    await endOrphans(options);
    expect(left.filter(alive)).toEqual(left);
    kill(gateway.pid as number);
    await until(() => gateway.signalCode !== null);
    await endOrphans(options);
    expect(left.filter(alive)).toEqual([]);
  });
});

describe("orphans found by the record of a gateway", () => {
  const endAll = (processes: Parameters<typeof end>[0]): Promise<void> =>
    processes.findAlive().then(() => end(processes, { ...options, name: "x" }));

  test("a gateway records its running children and removes those that ended", async () => {
    const folder = temp().path("run");
    const child = await stray("none");
    const record = new RunRecord(folder);
    record.add(child);
    await record.written();
    expect(readdirSync(folder)).toEqual([`${process.pid}.json`]);

    await endRecorded(folder, endAll);
    expect(alive(child)).toBe(true);
    record.remove(child);
    await record.written();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("recorded children of a dead gateway are ended with their group if their start time is the same", async () => {
    const folder = temp().path("run");
    const [child, other] = [await stray("none", ["deaf", "grandchild=deaf"]), await stray("none")];
    const below = childrenOf(child);
    expect(below).toHaveLength(1);
    onTestFinished(() => below.forEach(kill));
    const record = new RunRecord(folder);
    record.add(child);
    await record.written();
    const own = `${folder}/${process.pid}.json`;
    const written = JSON.parse(readFileSync(own, "utf8"));
    const earlier = "Thu Jan  1 00:00:00 2026";
    const dead = { gateway: { pid: process.pid, start: earlier } };
    const children = [...written.children, { pid: other, start: earlier }];
    writeFileSync(own, JSON.stringify({ ...dead, children }));
    writeFileSync(
      `${folder}/7.json`,
      JSON.stringify({ ...dead, children: [{ pid: 1, start: "x" }, { pid: -1 }] }),
    );
    writeFileSync(`${folder}/8.json`, "{");

    await endRecorded(folder, endAll);
    await gone([child, ...below]);
    expect(alive(other)).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a missing folder or one without records ends nothing and is not changed", async () => {
    const { path, write } = temp();
    const ended: (readonly number[])[] = [];
    const note = async (processes: Parameters<typeof end>[0]): Promise<void> => {
      if (await processes.findAlive()) ended.push(processes.survivors);
    };
    await endRecorded(path("absent"), note);
    expect(existsSync(path("absent"))).toBe(false);

    mkdirSync(path("run"));
    const child = await stray("none");
    const stranger = { gateway: { pid: child, start: "x" }, children: [identify(child)] };
    write("run/notes.txt", JSON.stringify(stranger));
    await endRecorded(path("run"), note);
    expect(ended).toEqual([]);
    expect(readdirSync(path("run"))).toEqual(["notes.txt"]);
    expect(alive(child)).toBe(true);
  });
});

async function output(child: ChildProcess): Promise<string> {
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  await once(child, "close");
  return text;
}
