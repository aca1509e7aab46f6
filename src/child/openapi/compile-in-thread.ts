/** Runs the thread that makes the tools of an API, with limits for its time and memory. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { Sequencer } from "../../kernel/sequencer.ts";
import type { CompileJob, FromThread, ToThread } from "./compile-thread.ts";

type FinishedMessage = Extract<FromThread, { compiled: unknown }>;
export type CompiledApi = FinishedMessage["compiled"];

const MAX_MS = 30_000;
const MAX_MEMORY_MB = 512;

/** One works after the other, so that documents never take more than one processor. */
const threads = new Sequencer();

/** Resolves when it is this one's turn, with what ends the turn. */
function turn(): Promise<() => void> {
  return new Promise((begin) => {
    void threads.run(() => new Promise<void>(begin));
  });
}

/** Rejects with the reason why the documents cannot be used. */
export async function compileInThread(
  job: CompileJob,
  load: (uri: string) => Promise<Uint8Array>,
  signal: AbortSignal,
): Promise<CompiledApi> {
  let endTurn = await turn();
  let thread: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;
  let abort: () => void = () => {};
  let over = false;
  try {
    signal.throwIfAborted();
    return await new Promise<CompiledApi>((resolve, reject) => {
      const started = new Worker(threadFile(), {
        workerData: job,
        env: {},
        resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB, maxYoungGenerationSizeMb: 8 },
      });
      thread = started;
      const limit = (): void => {
        timer = setTimeout(() => reject(new Error("its document takes too long to read")), MAX_MS);
      };
      abort = () => reject(signal.reason as Error);
      signal.addEventListener("abort", abort, { once: true });
      limit();
      /** Waiting for the network is not reading. */
      const answer = async (uri: string): Promise<void> => {
        clearTimeout(timer);
        endTurn();
        const loaded: ToThread = await load(uri).then(
          (bytes) => ({ bytes }),
          (error: Error) => ({ refused: error.message }),
        );
        const end = await turn();
        if (over) return end();
        endTurn = end;
        limit();
        // A document of its own memory is handed over; a copy would double it.
        const own = "bytes" in loaded && loaded.bytes.byteLength === loaded.bytes.buffer.byteLength;
        started.postMessage(loaded, own ? [loaded.bytes.buffer as ArrayBuffer] : []);
      };
      started.on("message", (message: FromThread) => {
        if ("compiled" in message) resolve(message.compiled);
        else if ("fault" in message) reject(new Error(message.fault));
        else void answer(message.load);
      });
      started.once("error", (error) => reject(new Error(`its document cannot be read: ${error.message}`)));
      started.once("exit", () => reject(new Error("its document cannot be read")));
    });
  } finally {
    over = true;
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    await thread?.terminate();
    endTurn();
  }
}

/** The bundled file of the thread, relative to the bundle or to the source. */
function threadFile(): string {
  const candidates = ["./openapi-thread.js", "../openapi-thread.js", "../../../dist/openapi-thread.js"];
  const files = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const file = files.find((one) => existsSync(one));
  if (file === undefined) throw new Error("the reader of API documents is missing from this installation");
  return file;
}
