import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { alive, kill } from "../../../test/support/processes.ts";
import { temp } from "../../../test/support/temp.ts";
import { until } from "../../../test/support/until.ts";
import { silentLog } from "../../kernel/log.ts";
import { systemClock } from "../../system-clock.ts";
import { Family } from "./family.ts";
import { MARK } from "./mark.ts";
import { hasTable, ProcessTable, readProcess, readVariable } from "./processes.ts";
import { end } from "./stop.ts";

const table = new ProcessTable({ variable: MARK });
const options = { clock: systemClock, log: silentLog, name: "x" };

/** Runs a shell script that prints one process id and stays. */
async function script(text: string): Promise<number> {
  const shell = spawn("sh", ["-c", text], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void shell.kill("SIGKILL"));
  const [printed] = (await once(shell.stdout, "data")) as [Buffer];
  const pid = Number(printed.toString());
  expect(pid).toBeGreaterThan(1);
  onTestFinished(() => kill(pid));
  return pid;
}

describe.runIf(hasTable)("process groups on Linux", () => {
  test("a group in which only zombies are left is gone", async () => {
    // The shell becomes a program that never asks for the exit code of its child, before that child is done.
    const pid = await script("setsid sleep 0.5 & echo $!; exec sleep 1000");
    await until(() => readProcess(pid) === undefined);
    const family = new Family(pid, "mark", table);
    family.childExited();
    expect(family.stirs()).toBe(true);
    await end(family, options);
    expect(family.stirs()).toBe(false);
  });

  test("a group without a mark is ended as long as it is certainly ours", async () => {
    const pid = await script("setsid sleep 1000 & echo $!; exec sleep 1000");
    await until(() => readProcess(pid)?.group === pid);
    const family = new Family(pid, "mark", table);
    family.childExited();
    await end(family, options);
    expect(alive(pid)).toBe(false);
  });

  test("one that was known and has lost its mark is still ended", async () => {
    const folder = temp();
    const go = folder.path("go");
    const pid = await script(
      `${MARK}=mark setsid sh -c 'until [ -e ${go} ]; do sleep 0.05; done; exec env -i sleep 1000' & echo $!; exec sleep 1000`,
    );
    await until(() => readVariable(pid, MARK) === "mark");
    const child = spawn("true", { detached: true });
    const family = new Family(child.pid as number, "mark", table);
    await once(child, "exit");
    family.childExited();
    expect(await family.look()).toBe(true);
    folder.write("go", "");
    await until(() => readVariable(pid, MARK) === undefined);
    expect(await family.look()).toBe(true);
    await end(family, options);
    expect(alive(pid)).toBe(false);
  });

  test("the number of a group that was empty once belongs to others", async () => {
    const empty = spawn("true", { detached: true });
    const family = new Family(empty.pid as number, "mark", table);
    await once(empty, "exit");
    family.childExited();
    expect(family.stirs()).toBe(false);

    // The same number again, as far as the family can tell.
    const pid = await script("setsid sleep 1000 & echo $!; exec sleep 1000");
    await until(() => readProcess(pid)?.group === pid);
    Object.defineProperty(family, "pid", { value: pid });
    expect(await family.look()).toBe(false);
    family.signal("SIGKILL");
    await end(family, options);
    expect(alive(pid)).toBe(true);
  });
});
