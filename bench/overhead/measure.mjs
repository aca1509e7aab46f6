// What is measured, and in which order: targets take turns within each figure, so that a busy machine troubles all alike.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpus, setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { shuffled } from "./shuffled.mjs";
import { Wire } from "./wire.mjs";

const MESSAGE = "sixteen bytes ok";
/** Of a fresh process; the second row has the first one in it. */
const FIRST_CALLS = [300, 3_000];

/**
 * Work of the lowest priority on each core. A core that sleeps, a virtual one most of all, takes as long to wake as a
 * whole hop, and whoever is called over one hop more wakes one more.
 */
async function keepAwake() {
  const loops = cpus().map(() => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
  await Promise.all(loops.map((loop) => once(loop, "spawn")));
  for (const { pid } of loops) setPriority(pid, 19);
  const end = () => {
    for (const loop of loops) loop.kill("SIGKILL");
  };
  process.once("exit", end);
  return { end };
}

/** A target with one tool of one server, ready to be called. */
export async function open(target, server, tool, args) {
  const wire = new Wire(target.start(server));
  await wire.initialize();
  await wire.request("tools/list", {});
  const params = target.call(server, tool, args);
  const first = await wire.request("tools/call", params);
  if (first.error || first.result.isError)
    throw new Error(`${target.name}: ${JSON.stringify(first.error ?? first.result).slice(0, 300)}`);
  return { name: target.name, wire, params: JSON.stringify(params), resultBytes: first.resultBytes };
}

/** Opens what can be opened; who cannot is left out and the reason said. */
export async function openAll(targets, problem, ...what) {
  const open_ = [];
  for (const target of targets) {
    try {
      open_.push(await open(target, ...what));
    } catch (error) {
      problem(`${target.name}: ${error.message}`);
    }
  }
  return open_;
}

export const closeAll = (opened) => Promise.all(opened.map(({ wire }) => wire.close()));

async function cpuPerCall({ wire, params }, calls, inFlight) {
  const before = wire.cpu();
  await wire.calls(params, calls, inFlight);
  return (wire.cpu() - before) / calls;
}

/** CPU per call by rounds: name → one figure per round. */
export async function rounds(opened, count, calls, inFlight) {
  const figures = new Map(opened.map(({ name }) => [name, []]));
  for (const target of opened) await target.wire.calls(target.params, Math.ceil(calls / 4), inFlight);
  for (let round = 0; round < count; round++)
    for (const target of shuffled(opened))
      figures.get(target.name).push(await cpuPerCall(target, calls, inFlight));
  return figures;
}

/** Call by call in turn: name → the time of each in µs. */
async function inTurn(opened, calls) {
  const times = new Map(opened.map(({ name }) => [name, []]));
  for (let i = 0; i < calls; i++)
    for (const { name, wire, params } of shuffled(opened))
      times.get(name).push(...(await wire.calls(params, 1, 1)).map((ms) => ms * 1000));
  return times;
}

/** `echo` of server-everything: call by call in turn, then many in flight in blocks. */
export async function small(targets, { scale, problem, report }) {
  const opened = await openAll(targets, problem, "everything", "echo", { message: MESSAGE });
  const calls = 3_000 * scale;
  // Steady state is measured: compiling the hot path is over by then.
  for (const { wire, params } of opened) await wire.calls(params, 5_000, 32);
  for (const { wire, params } of opened) await wire.calls(params, 300, 1);
  const before = opened.map(({ wire }) => wire.cpu());
  for (const [name, times] of await inTurn(opened, calls)) report("latency asleep", name, times);
  for (const [i, { name, wire }] of opened.entries())
    if (name !== "direct") report("cpu 1", name, [(wire.cpu() - before[i]) / calls]);
  const sleepless = await keepAwake();
  for (const [name, times] of await inTurn(opened, calls)) report("latency", name, times);
  sleepless.end();
  const proxies = opened.filter(({ name }) => name !== "direct");
  for (const [name, figures] of await rounds(proxies, 5, 10_000 * scale, 32)) report("cpu 32", name, figures);
  await closeAll(opened);
}

/** What a process costs in its first calls, which is what most people get of it in a day: each round is a fresh one. */
export async function cold(targets, { scale, problem, report }) {
  const figures = FIRST_CALLS.map(() => new Map(targets.map(({ name }) => [name, []])));
  for (let round = 0; round < Math.max(3, Math.ceil(9 * scale)); round++)
    for (const target of shuffled(targets)) {
      const opened = await openAll([target], problem, "everything", "echo", { message: MESSAGE });
      for (const { name, wire, params } of opened) {
        const before = wire.cpu();
        let made = 0;
        for (const [i, calls] of FIRST_CALLS.entries()) {
          await wire.calls(params, calls - made, 32);
          made = calls;
          figures[i].get(name).push((wire.cpu() - before) / calls);
        }
      }
      await closeAll(opened);
    }
  for (const [i, calls] of FIRST_CALLS.entries())
    for (const [name, samples] of figures[i]) if (samples.length > 0) report(`cold ${calls}`, name, samples);
}

/** Results of one size from the fixture, so that only the result is large. */
export async function large(targets, { scale, problem, report }, { bytes, label, calls }) {
  const opened = await openAll(targets, problem, "fixture", "big", { bytes });
  for (const { name, resultBytes } of opened)
    if (resultBytes < bytes)
      problem(`${name}: gave ${resultBytes} of ${bytes} bytes; its figure says nothing`);
  for (const inFlight of [1, 32])
    for (const [name, figures] of await rounds(opened, 5, Math.ceil(calls * scale), inFlight))
      report(`${label} ${inFlight}`, name, figures);
  await closeAll(opened);
}

/** Resident memory of a fresh process that has nothing to do. */
export async function memory(targets, { problem, report }) {
  for (const target of targets) {
    const idle = [];
    const listed = [];
    for (let i = 0; i < 3; i++) {
      const wire = new Wire(target.start("everything"));
      try {
        await wire.initialize();
        await pause(700);
        idle.push(wire.rss());
        const list = await wire.request("tools/list", {});
        await pause(700);
        listed.push(wire.rss());
        report("list bytes", target.name, [list.resultBytes]);
      } catch (error) {
        problem(`${target.name}: ${error.message}`);
      }
      await wire.close();
    }
    if (idle.length > 0) report("rss", target.name, idle);
    if (listed.length > 0) report("rss listed", target.name, listed);
  }
}

function bareNode() {
  const since = performance.now();
  return new Promise((resolve) => {
    spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }).once("exit", () =>
      resolve(performance.now() - since),
    );
  });
}

/** From spawn to the answer to `initialize`, with 50 servers configured; beside it the bare runtime. */
export async function start(targets, { scale, problem, report }) {
  const able = targets.filter((target) => target.startWith);
  const times = new Map([["node -e 0", []], ...able.map(({ name }) => [name, []])]);
  for (let i = 0; i < Math.max(3, Math.ceil(21 * scale)); i++) {
    times.get("node -e 0").push(await bareNode());
    for (const target of able) {
      const since = performance.now();
      const wire = new Wire(target.startWith(50));
      try {
        await wire.initialize();
        times.get(target.name).push(performance.now() - since);
      } catch (error) {
        problem(`${target.name}: ${error.message}`);
      }
      await wire.close();
    }
  }
  for (const [name, figures] of times) if (figures.length > 0) report("start", name, figures);
}
