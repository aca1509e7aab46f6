/** The guard of a server that may run only once: real processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { Guard } from "../../../src/child/placed/guard.ts";

/** A process in its own group that ends only when it is killed. */
function stubborn(): ChildProcess & { readonly pid: number } {
  const child = spawn("/bin/sh", ["-c", 'trap "" TERM HUP; sleep 1000 & wait'], { detached: true });
  const { pid } = child as { pid: number };
  onTestFinished(() => {
    if (child.signalCode === null) process.kill(-pid, "SIGKILL");
  });
  return child as ChildProcess & { readonly pid: number };
}

async function guard(guardMs: number): Promise<Guard> {
  const started = (await Guard.start(guardMs)) as Guard;
  onTestFinished(() => started.stop());
  return started;
}

test("a group that nobody renews is killed", async () => {
  const child = stubborn();
  (await guard(60_000)).watch(child.pid, 100);
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
});

test("a renewal gives it another period", async () => {
  const [first, child] = [stubborn(), stubborn()];
  const [other, renewed] = [await guard(60_000), await guard(100)];
  renewed.watch(child.pid, 60_000);
  other.watch(first.pid, 300);
  await once(first, "exit");
  expect(child.signalCode).toBeNull();
  renewed.renew();
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
});

test("a guard that was stopped kills nothing", async () => {
  const [first, child] = [stubborn(), stubborn()];
  const [other, stopped] = [await guard(60_000), await guard(100)];
  stopped.watch(child.pid, 200);
  stopped.stop();
  other.watch(first.pid, 600);
  await once(first, "exit");
  expect(child.signalCode).toBeNull();
});
