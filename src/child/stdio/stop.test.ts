import { chmodSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { alive, gone, kill } from "../../../test/support/processes.ts";
import { bench } from "../../../test/support/stdio.ts";
import { temp } from "../../../test/support/temp.ts";
import { until } from "../../../test/support/until.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { systemClock } from "../../system-clock.ts";
import { end, type Remains } from "./stop.ts";

const linux = process.platform === "linux";
const onLinux = test.runIf(linux);

test("the steps: SIGTERM after 50, 150, 350, 750 ms, SIGKILL after 1,550 ms", async () => {
  const clock = new ManualClock();
  const sent: string[] = [];
  let lives = true;
  const stubborn: Remains = {
    stirs: () => lives,
    look: async () => lives,
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

test("what cannot be killed is reported, and nobody waits for it for ever", async () => {
  const clock = new ManualClock();
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (_: string, fields?: object) => void errors.push(fields) };
  const immortal: Remains = {
    stirs: () => true,
    look: async () => true,
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
  { what: "a child deaf to its stdin and to SIGTERM", traits: ["deaf"], count: 1 },
  { what: "a child that ignores only its stdin", traits: ["stay"], count: 1 },
  { what: "a deaf grandchild in the group of a good child", traits: ["grandchild=deaf"], count: 2 },
  { what: "two generations, all deaf", traits: ["deaf", "grandchild=deaf", "grandchild=deaf"], count: 3 },
  { what: "a grandchild that left the group", traits: ["stray"], count: 2, onlyLinux: true },
  { what: "a deaf one that left the group", traits: ["stray=deaf", "deaf"], count: 2, onlyLinux: true },
  { what: "one that leaves an heir when told to end", traits: ["stay", "heir"], count: 1, onlyLinux: true },
])("nothing is left of $what", async ({ traits, count, onlyLinux }, { onTestFinished }) => {
  if (onlyLinux && !linux) return;
  const { ready, pids, closings, logged, connector } = bench(traits, { onTestFinished });
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

test.concurrent("a stopped child is ended too", async ({ onTestFinished }) => {
  const { ready, pids } = bench(["grandchild"], { onTestFinished });
  const link = await ready();
  for (const pid of pids()) process.kill(pid, "SIGSTOP");
  await link.close();
  expect(pids()).toEqual([]);
});

onLinux.concurrent("a stray is ended when the child was killed under us", async ({ onTestFinished }) => {
  const { ready, pids, connector, closings } = bench(["stray=deaf", "grandchild=deaf"], { onTestFinished });
  const link = await ready();
  const before = pids();
  expect(before).toHaveLength(3);
  kill(Number(link.peer.slice(4)));
  await until(() => closings.length > 0);
  await connector.settled();
  expect(before.filter(alive)).toEqual([]);
});

onLinux("a relay of short-lived processes outside the group does not get away", async () => {
  const folder = temp();
  const relay = folder.write("relay", '#!/bin/sh\necho >> "$1"\nsleep 0.01\nsetsid "$0" "$1" &\n');
  chmodSync(relay, 0o755);
  // Missing one is a matter of luck, so it has to work out several times.
  const file = folder.write("runners", "");
  const runners = (): number => readFileSync(file).length;
  const { open } = bench([], { command: relay, args: [file] });
  const links = await Promise.all(Array.from({ length: 4 }, () => open()));
  await until(() => !links.some(({ peer }) => alive(Number(peer.slice(4)))) && runners() > 20);
  await Promise.all(links.map((link) => link.close()));
  // Whoever got away would soon be followed by another.
  const last = runners();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(runners()).toBe(last);
});

onLinux.concurrent("other children, of the same server too, are not touched", async ({ onTestFinished }) => {
  const one = bench(["stray"], { onTestFinished });
  const [first, second] = [await one.ready(), await one.open()];
  const other = bench(["stray=deaf"], { onTestFinished });
  await other.ready();
  await until(() => one.pids().length === 4);
  await first.close();
  expect(one.pids()).toHaveLength(2);
  expect(other.pids()).toHaveLength(2);
  await second.close();
  expect(one.pids()).toEqual([]);
  other.connector.killAllNow();
  await gone(other.pids());
});

test.concurrent("killing all at once needs no second turn", async ({ onTestFinished }) => {
  const traits = ["deaf", "grandchild=deaf", ...(linux ? ["stray=deaf"] : [])];
  const { ready, pids, connector, closings } = bench(traits, { onTestFinished });
  await ready();
  const before = pids();
  expect(before).toHaveLength(traits.length);
  connector.killAllNow();
  // Without a turn of the event loop, so that nothing else can have ended them.
  for (const end = Date.now() + 15_000; before.some(alive) && Date.now() < end; );
  expect(before.filter(alive)).toEqual([]);
  await until(() => closings.length === 1);
  await connector.settled();
});

test.concurrent("many children end in parallel", async ({ onTestFinished }) => {
  const all = Array.from({ length: 4 }, () => bench(["deaf"], { onTestFinished }));
  const links = await Promise.all(all.map((one) => one.ready()));
  const from = systemClock.now();
  const times = await Promise.all(
    links.map(async (link) => {
      await link.close();
      return systemClock.now() - from;
    }),
  );
  // One after the other they would end at least 1.5 s apart.
  expect(Math.max(...times) - Math.min(...times)).toBeLessThan(3 * 1_550);
  expect(all.flatMap((one) => one.pids())).toEqual([]);
});
