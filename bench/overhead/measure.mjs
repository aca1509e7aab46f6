// The measurements. Targets take turns within each figure, so that other load on the machine affects all
// alike.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpus, setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { shuffled } from "./shuffled.mjs";
import { Wire } from "./wire.mjs";

const MESSAGE = "sixteen bytes ok";
/** First calls of a new process. The second number includes the first. */
const FIRST_CALLS = [300, 3_000];

/**
 * Keeps each core awake with a loop of the lowest priority. Waking a sleeping core, most of all a virtual
 * one, takes as long as a whole hop, and each additional process on the path wakes one more core.
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

/** Starts a target and calls one tool of one server, so that it is ready. */
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

/** Opens all targets. Leaves out a target that fails and reports the reason. */
export async function openAll(targets, problem, ...tool) {
  const opened = [];
  for (const target of targets) {
    try {
      opened.push(await open(target, ...tool));
    } catch (error) {
      problem(`${target.name}: ${error.message}`);
    }
  }
  return opened;
}

export const closeAll = (opened) => Promise.all(opened.map(({ wire }) => wire.close()));

async function cpuPerCall({ wire, params }, calls, inFlight) {
  const before = wire.cpu();
  await wire.calls(params, calls, inFlight);
  return (wire.cpu() - before) / calls;
}

/** Returns CPU per call by name, one figure per round. */
export async function rounds(opened, count, calls, inFlight) {
  const figures = new Map(opened.map(({ name }) => [name, []]));
  for (const target of opened) await target.wire.calls(target.params, Math.ceil(calls / 4), inFlight);
  for (let round = 0; round < count; round++)
    for (const target of shuffled(opened))
      figures.get(target.name).push(await cpuPerCall(target, calls, inFlight));
  return figures;
}

/** Calls all targets in turn, call by call. Returns the times in µs by name. */
async function inTurn(opened, calls) {
  const times = new Map(opened.map(({ name }) => [name, []]));
  for (let i = 0; i < calls; i++)
    for (const { name, wire, params } of shuffled(opened))
      times.get(name).push(...(await wire.calls(params, 1, 1)).map((ms) => ms * 1000));
  return times;
}

/** `echo` of server-everything: latency call by call, then CPU in blocks with many in flight. */
export async function small(targets, { scale, problem, report }) {
  const opened = await openAll(targets, problem, "everything", "echo", { message: MESSAGE });
  const calls = 3_000 * scale;
  // Warm up, so that V8 has compiled the hot path before the measurement.
  for (const { wire, params } of opened) await wire.calls(params, 5_000, 32);
  for (const { wire, params } of opened) await wire.calls(params, 300, 1);
  const before = opened.map(({ wire }) => wire.cpu());
  for (const [name, times] of await inTurn(opened, calls)) report("latency asleep", name, times);
  for (const [i, { name, wire }] of opened.entries())
    if (name !== "direct") report("cpu 1", name, [(wire.cpu() - before[i]) / calls]);
  const awake = await keepAwake();
  for (const [name, times] of await inTurn(opened, calls)) report("latency", name, times);
  awake.end();
  const proxies = opened.filter(({ name }) => name !== "direct");
  for (const [name, figures] of await rounds(proxies, 5, 10_000 * scale, 32)) report("cpu 32", name, figures);
  await closeAll(opened);
}

/**
 * CPU of the first calls of a process, with a new process each round. Most people make no more calls in a
 * day.
 */
export async function cold(targets, { scale, problem, report }) {
  const figures = FIRST_CALLS.map(() => new Map(targets.map(({ name }) => [name, []])));
  for (let round = 0; round < Math.max(3, Math.ceil(9 * scale)); round++)
    for (const target of shuffled(targets)) {
      const opened = await openAll([target], problem, "everything", "echo", { message: MESSAGE });
      for (const { name, wire, params } of opened) {
        const before = wire.cpu();
        let done = 0;
        for (const [i, calls] of FIRST_CALLS.entries()) {
          await wire.calls(params, calls - done, 32);
          done = calls;
          figures[i].get(name).push((wire.cpu() - before) / calls);
        }
      }
      await closeAll(opened);
    }
  for (const [i, calls] of FIRST_CALLS.entries())
    for (const [name, samples] of figures[i]) if (samples.length > 0) report(`cold ${calls}`, name, samples);
}

/** Large results of one size, from the fixture, so that the request stays small. */
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

/** Resident memory of a new idle process. */
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

/** Time from spawn to the answer to `initialize` with 50 servers configured, compared with bare Node. */
export async function start(targets, { scale, problem, report }) {
  const startable = targets.filter((target) => target.startWith);
  const times = new Map([["node -e 0", []], ...startable.map(({ name }) => [name, []])]);
  for (let i = 0; i < Math.max(3, Math.ceil(21 * scale)); i++) {
    times.get("node -e 0").push(await bareNode());
    for (const target of startable) {
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
