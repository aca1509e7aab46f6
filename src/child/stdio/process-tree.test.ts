import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { alive, kill } from "../../../test/support/processes.ts";
import { temp } from "../../../test/support/temp.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../../engine/system-clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { MARK } from "./mark.ts";
import { ProcessTree } from "./process-tree.ts";
import { hasTable, ProcessTable, readProcess, readVariable } from "./processes.ts";
import { end } from "./stop.ts";

const table = new ProcessTable({ variable: MARK });
const options = { clock: systemClock, log: silentLog, name: "x" };

/** Runs a shell script that prints a pid and keeps running. Returns the pid. */
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
  test("a group with only zombies counts as ended", async () => {
    // Before its child ends, the shell executes a program that never reaps it.
    const pid = await script("setsid sleep 0.5 & echo $!; exec sleep 1000");
    await until(() => readProcess(pid) === undefined);
    const tree = new ProcessTree(pid, "mark", table);
    tree.childExited();
    expect(tree.isAnyAlive()).toBe(true);
    await end(tree, options);
    expect(tree.isAnyAlive()).toBe(false);
  });

  test("a group without a mark is ended while it is certainly ours", async () => {
    const pid = await script("setsid sleep 1000 & echo $!; exec sleep 1000");
    await until(() => readProcess(pid)?.group === pid);
    const tree = new ProcessTree(pid, "mark", table);
    tree.childExited();
    await end(tree, options);
    expect(alive(pid)).toBe(false);
  });

  test("a known process that lost its mark is still ended", async () => {
    const folder = temp();
    const go = folder.path("go");
    const pid = await script(
      `${MARK}=mark setsid sh -c 'until [ -e ${go} ]; do sleep 0.05; done; exec env -i sleep 1000' & echo $!; exec sleep 1000`,
    );
    await until(() => readVariable(pid, MARK) === "mark");
    const child = spawn("true", { detached: true });
    const tree = new ProcessTree(child.pid as number, "mark", table);
    await once(child, "exit");
    tree.childExited();
    expect(await tree.findAlive()).toBe(true);
    folder.write("go", "");
    await until(() => readVariable(pid, MARK) === undefined);
    expect(await tree.findAlive()).toBe(true);
    await end(tree, options);
    expect(alive(pid)).toBe(false);
  });

  test("a group is not signalled again once it was empty", async () => {
    const empty = spawn("true", { detached: true });
    const tree = new ProcessTree(empty.pid as number, "mark", table);
    await once(empty, "exit");
    tree.childExited();
    expect(tree.isAnyAlive()).toBe(false);

    // Simulates that the system reuses the number for another group.
    const pid = await script("setsid sleep 1000 & echo $!; exec sleep 1000");
    await until(() => readProcess(pid)?.group === pid);
    Object.defineProperty(tree, "pid", { value: pid });
    expect(await tree.findAlive()).toBe(false);
    tree.signal("SIGKILL");
    await end(tree, options);
    expect(alive(pid)).toBe(true);
  });
});
