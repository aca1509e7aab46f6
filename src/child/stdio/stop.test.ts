import { chmodSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { alive, gone, kill } from "../../../test/support/processes.ts";
import { stdioHarness } from "../../../test/support/stdio.ts";
import { temp } from "../../../test/support/temp.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../../engine/system-clock.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { type EndableProcesses, end } from "./stop.ts";

const linux = process.platform === "linux";
const onLinux = test.runIf(linux);

test("end() sends SIGTERM after 50, 150, 350 and 750 ms, and SIGKILL after 1,550 ms", async () => {
  const clock = new ManualClock();
  const sent: string[] = [];
  let lives = true;
  const stubborn: EndableProcesses = {
    isAnyAlive: () => lives,
    findAlive: async () => lives,
    signal: (name) => {
      sent.push(`${name} ${clock.now()}`);
      if (name === "SIGKILL") lives = false;
    },
    survivors: [1],
  };
  let over = false;
  const ending = end(stubborn, { clock, log: silentLog, name: "x" }).then(() => {
    over = true;
  });
  while (!over) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1);
  }
  await ending;
  expect(sent).toEqual(["SIGTERM 50", "SIGTERM 150", "SIGTERM 350", "SIGTERM 750", "SIGKILL 1550"]);
});

test("end() gives up and logs processes that cannot be killed", async () => {
  const clock = new ManualClock();
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (_: string, fields?: object) => void errors.push(fields) };
  const immortal: EndableProcesses = {
    isAnyAlive: () => true,
    findAlive: async () => true,
    signal: () => {},
    survivors: [77],
  };
  let over = false;
  void end(immortal, { clock, log, name: "x" }).then(() => {
    over = true;
  });
  while (!over) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(50);
  }
  expect(clock.now()).toBeLessThan(10_000);
  expect(errors).toEqual([{ server: "x", pids: [77] }]);
});

test.concurrent.for([
  { what: "a child that ignores the end of stdin and SIGTERM", traits: ["deaf"], count: 1 },
  { what: "a child that ignores only the end of stdin", traits: ["stay"], count: 1 },
  { what: "a grandchild in the group that ignores SIGTERM", traits: ["grandchild=deaf"], count: 2 },
  {
    what: "a child and grandchildren that ignore SIGTERM",
    traits: ["deaf", "grandchild=deaf", "grandchild=deaf"],
    count: 3,
  },
  { what: "a grandchild outside of the group", traits: ["stray"], count: 2, onlyLinux: true },
  {
    what: "a grandchild outside of the group that ignores SIGTERM",
    traits: ["stray=deaf", "deaf"],
    count: 2,
    onlyLinux: true,
  },
  {
    what: "a child that starts another process on SIGTERM",
    traits: ["stay", "heir"],
    count: 1,
    onlyLinux: true,
  },
])("close() leaves no process of $what", async ({ traits, count, onlyLinux }, { onTestFinished }) => {
  if (onlyLinux && !linux) return;
  const { ready, pids, closings, logged, connector } = stdioHarness(traits, { onTestFinished });
  const link = await ready();
  const before = pids();
  expect(before).toHaveLength(count);
  await link.close();
  expect(before.filter(alive)).toEqual([]);
  expect(pids()).toEqual([]);
  expect(closings).toEqual([]);
  expect(logged.filter((line) => line.startsWith("error"))).toEqual([]);
  await connector.settled();
});

test.concurrent("close() ends a child that is stopped with SIGSTOP", async ({ onTestFinished }) => {
  const { ready, pids } = stdioHarness(["grandchild"], { onTestFinished });
  const link = await ready();
  for (const pid of pids()) process.kill(pid, "SIGSTOP");
  await link.close();
  expect(pids()).toEqual([]);
});

onLinux.concurrent(
  "processes outside of the group are ended when the child is killed from outside",
  async ({ onTestFinished }) => {
    const { ready, pids, connector, closings } = stdioHarness(["stray=deaf", "grandchild=deaf"], {
      onTestFinished,
    });
    const link = await ready();
    const before = pids();
    expect(before).toHaveLength(3);
    kill(Number(link.peer.slice(4)));
    await until(() => closings.length > 0);
    await connector.settled();
    expect(before.filter(alive)).toEqual([]);
  },
);

onLinux("close() ends a chain of short-lived processes outside of the group", async () => {
  const folder = temp();
  const relay = folder.write("relay", '#!/bin/sh\necho >> "$1"\nsleep 0.01\nsetsid "$0" "$1" &\n');
  chmodSync(relay, 0o755);
  // A single attempt could succeed by chance, so there are several.
  const file = folder.write("runners", "");
  const runners = (): number => readFileSync(file).length;
  const { open } = stdioHarness([], { command: relay, args: [file] });
  const links = await Promise.all(Array.from({ length: 4 }, () => open()));
  await until(() => !links.some(({ peer }) => alive(Number(peer.slice(4)))) && runners() > 20);
  await Promise.all(links.map((link) => link.close()));
  // A process that was missed would soon start the next one.
  const last = runners();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(runners()).toBe(last);
});

onLinux.concurrent(
  "close() does not end processes of other children, even of the same server",
  async ({ onTestFinished }) => {
    const one = stdioHarness(["stray"], { onTestFinished });
    const [first, second] = [await one.ready(), await one.open()];
    const other = stdioHarness(["stray=deaf"], { onTestFinished });
    await other.ready();
    await until(() => one.pids().length === 4);
    await first.close();
    expect(one.pids()).toHaveLength(2);
    expect(other.pids()).toHaveLength(2);
    await second.close();
    expect(one.pids()).toEqual([]);
    other.connector.killAllNow();
    await gone(other.pids());
  },
);

test.concurrent("killAllNow() kills all processes without a turn of the event loop", async ({
  onTestFinished,
}) => {
  const traits = ["deaf", "grandchild=deaf", ...(linux ? ["stray=deaf"] : [])];
  const { ready, pids, connector, closings } = stdioHarness(traits, { onTestFinished });
  await ready();
  const before = pids();
  expect(before).toHaveLength(traits.length);
  connector.killAllNow();
  // Busy waiting: without a turn of the event loop nothing else can have ended them.
  for (const end = Date.now() + 15_000; before.some(alive) && Date.now() < end; );
  expect(before.filter(alive)).toEqual([]);
  await until(() => closings.length === 1);
  await connector.settled();
});

test.concurrent("many children end in parallel", async ({ onTestFinished }) => {
  const all = Array.from({ length: 4 }, () => stdioHarness(["deaf"], { onTestFinished }));
  const links = await Promise.all(all.map((one) => one.ready()));
  const from = systemClock.now();
  const times = await Promise.all(
    links.map(async (link) => {
      await link.close();
      return systemClock.now() - from;
    }),
  );
  // In sequence they would end at least 1.5 s apart.
  expect(Math.max(...times) - Math.min(...times)).toBeLessThan(3 * 1_550);
  expect(all.flatMap((one) => one.pids())).toEqual([]);
});
