/** Converts YAML from strangers to JSON in a thread of its own, with limits for size, time and memory. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Converted } from "./yaml-thread.ts";

const MAX_CHARACTERS = 256 * 1024;
/** Aliases repeat parts of a document, so the JSON can be longer than the YAML. */
const MAX_JSON = 4 * 1024 * 1024;
const MAX_MS = 5_000;
const MAX_MEMORY_MB = 256;
const MAX_WAITING = 16;

/** Why a document was not converted, with an HTTP status. */
export interface NotConverted {
  readonly status: 400 | 413 | 503;
  readonly reason: string;
}

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/** Returns JSON. Converts one document after the other, so that documents never take more than one processor. */
export async function convertYaml(text: string): Promise<string | NotConverted> {
  if (text.length > MAX_CHARACTERS)
    return { status: 413, reason: `YAML may have at most ${MAX_CHARACTERS} characters; send JSON instead` };
  if (waiting >= MAX_WAITING) return { status: 503, reason: "too many YAML documents at once" };
  waiting += 1;
  const turn = last.then(() => convertInThread(text));
  last = turn.catch(() => {});
  try {
    const converted = await turn;
    if ("error" in converted)
      return { status: 400, reason: `the body is not valid YAML: ${converted.error}` };
    if (converted.json.length > MAX_JSON)
      return { status: 413, reason: "the aliases of this YAML repeat too much" };
    return converted.json;
  } finally {
    waiting -= 1;
  }
}

function convertInThread(text: string): Promise<Converted> {
  return new Promise((resolve) => {
    const thread = new Worker(threadFile(), {
      workerData: text,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
    });
    const end = (converted: Converted): void => {
      clearTimeout(timer);
      resolve(converted);
      void thread.terminate();
    };
    const timer = setTimeout(() => end({ error: "it takes too long to read; send JSON instead" }), MAX_MS);
    thread.once("message", end);
    thread.once("error", (error) => end({ error: error.message }));
    thread.once("exit", () => end({ error: "it could not be read" }));
  });
}

/** The bundled file of the thread, relative to the bundle or to the source. */
function threadFile(): string {
  const candidates = ["./yaml-thread.js", "../yaml-thread.js", "../../../dist/yaml-thread.js"];
  const files = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const file = files.find((one) => existsSync(one));
  if (file === undefined) throw new Error("the YAML parser is missing from this installation");
  return file;
}
