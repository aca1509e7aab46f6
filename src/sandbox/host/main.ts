/**
 * The sandbox host: the process that runs untrusted code. Reads frames from stdin, writes frames to stdout,
 * and ends when stdin ends. Uses no environment variables and only its own files.
 */

import { writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Sequencer } from "../../kernel/sequencer.ts";
import { LIMITS, type Limits } from "../executor.ts";
import { FrameReader, type FromHost, readFromGateway, writeFrame } from "../frames.ts";
import { type Exec, HostRun, type RunParts } from "./run.ts";
import type { WasmEngine as IdleEngine } from "./wasm-engine.ts";

const HEARTBEAT_MS = 100;
/** Limit for all runs of this host together. */
const MAX_MEMORY = 384 << 20;

const runs = new Map<number, HostRun>();
/** Runs that wait for an engine. */
const opening = new Set<number>();

/** Synchronous, because an endless loop right after it would delay an asynchronous write. */
function send(frame: FromHost): void {
  const bytes = Buffer.from(writeFrame(frame));
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") process.exit(0);
    }
  }
}

/** The run with the most memory, if all runs together exceed the limit. */
function largestOverLimit(): HostRun | undefined {
  let sum = 0;
  let most: HostRun | undefined;
  for (const run of runs.values()) {
    sum += run.memoryBytes;
    if (run.memoryBytes > (most?.memoryBytes ?? 0)) most = run;
  }
  return sum > MAX_MEMORY ? most : undefined;
}

interface Engines {
  open(): Promise<RunParts["engine"]>;
}

/** Creates engines in advance, so that runs do not wait for one. */
async function wasmEngines(limits: Limits, spare: number): Promise<Engines> {
  const { WasmEngine } = await import("./wasm-engine.ts");
  const wasm = await WebAssembly.compile(await readFile(new URL("quickjs.wasm", import.meta.url)));
  const idle: IdleEngine[] = [await WasmEngine.create(wasm, limits)];
  // One at a time, with a turn of the event loop in between: otherwise many engines would delay the
  // heartbeats.
  const creations = new Sequencer();
  const create = (): Promise<IdleEngine> =>
    creations.run(async () => {
      const engine = await WasmEngine.create(wasm, limits);
      await new Promise((resolve) => setImmediate(resolve));
      return engine;
    });
  let filling = false;
  const fill = async (): Promise<void> => {
    if (filling) return;
    filling = true;
    try {
      while (idle.length < spare && opening.size === 0) idle.push(await create());
    } catch {
      // A run that needs an engine gets the error.
    }
    filling = false;
  };
  const fillSoon = (): void => void setImmediate(() => void fill());
  fillSoon();
  return {
    async open() {
      const engine = idle.pop() ?? (await create());
      fillSoon();
      return (hooks) => {
        engine.take(hooks);
        return engine;
      };
    },
  };
}

async function nodeEngines(): Promise<Engines> {
  const { NodeEngine } = await import("./node-engine.ts");
  return { open: () => Promise.resolve((hooks) => new NodeEngine(hooks)) };
}

let engines: Promise<Engines> | undefined;

async function receive(line: string): Promise<void> {
  const frame = readFromGateway(line);
  if (frame.type === "init") {
    engines = process.argv[2] === "node" ? nodeEngines() : wasmEngines(frame.limits, frame.spare);
    await engines;
    send({ type: "ready" });
  } else if (frame.type === "result") runs.get(frame.id)?.settled(frame);
  else if (frame.type === "cancel") cancel(frame.id);
  else if (frame.type === "hold") runs.get(frame.id)?.hold(frame.held);
  else await execute(frame);
}

async function execute(exec: Exec): Promise<void> {
  const { id } = exec;
  opening.add(id);
  engines ??= wasmEngines(LIMITS, 1);
  let engine: RunParts["engine"];
  try {
    engine = await (await engines).open();
  } catch {
    opening.delete(id);
    return send({ type: "fail", id, name: "SandboxError", message: "no engine could be started for it" });
  }
  const ended = (): void => void runs.delete(id);
  const run = new HostRun(exec, { send, engine, ended, exceedsMemory: (one) => largestOverLimit() === one });
  runs.set(id, run);
  if (opening.delete(id)) run.begin(exec);
  else run.cancel();
}

/** A cancel may arrive before the run has an engine. */
function cancel(id: number): void {
  runs.get(id)?.cancel();
  opening.delete(id);
}

const lines = new FrameReader(
  (line) => void receive(line),
  () => process.exit(1),
);
process.stdin.on("data", (chunk: Buffer) => lines.push(chunk));
process.stdin.on("end", () => process.exit(0));
process.stdin.on("error", () => process.exit(0));

setInterval(() => {
  if (runs.size + opening.size === 0) return;
  send({ type: "heartbeat" });
  largestOverLimit()?.exceedMemory();
}, HEARTBEAT_MS);
