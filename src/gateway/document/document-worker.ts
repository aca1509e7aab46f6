/** Reads large documents and YAML from outside in a thread, with limits for size, time and memory. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { FairSequencer } from "../../kernel/fair-sequencer.ts";
import type { Job, Piece, Reply } from "./document-thread.ts";

const MAX_YAML = 4 * 1024 * 1024;
const MAX_MS = 30_000;
const MAX_MEMORY_MB = 512;
/** Documents of one person, and of all, that wait or are being read: each may have 32 MB. */
const WAITING = { perOwner: 4, total: 16 } as const;

/** Why a document was not read, with an HTTP status. */
export interface NotRead {
  readonly status: 400 | 413 | 422 | 503;
  readonly reason: string;
  readonly path?: string;
}

const TOO_MANY: NotRead = { status: 503, reason: "too many large documents at once" };

/** One document after the other, so that documents never take more than one processor. */
const documents = new FairSequencer(WAITING);

/** `sender`: who waits for it. People take turns, so that one with slow documents keeps nobody out. */
export async function readInThread(
  bytes: Uint8Array,
  type: "json" | "yaml",
  sender: string,
): Promise<{ readonly value: unknown } | NotRead> {
  if (type === "yaml" && bytes.length > MAX_YAML)
    return { status: 413, reason: `YAML may have at most ${MAX_YAML} bytes; send JSON instead` };
  const reading = documents.run(sender, () =>
    withThread<{ readonly value: unknown } | NotRead>({ read: bytes, type }, async (next) => {
      const root: { value?: unknown } = {};
      for (;;) {
        const reply = await next();
        if ("fault" in reply) return reply.fault;
        if (!("pieces" in reply) || reply.pieces.length === 0) return { value: root.value };
        for (const piece of reply.pieces) place(root, piece);
      }
    }),
  );
  return (await reading) ?? TOO_MANY;
}

/** Rejects if it takes too long. */
export async function writeYaml(json: string, reader: string): Promise<string | NotRead> {
  const writing = documents.run(reader, () =>
    withThread({ write: json }, async (next) => {
      const reply = await next();
      if ("yaml" in reply) return reply.yaml;
      throw new Error("fault" in reply ? reply.fault.reason : "there is no YAML");
    }),
  );
  return (await writing) ?? TOO_MANY;
}

function place(root: object, [path, json]: Piece): void {
  let target = root;
  let name = "value";
  for (const key of path) {
    if (!Object.hasOwn(target, name)) define(target, name, {});
    target = (target as Record<string, object>)[name] as object;
    name = key;
  }
  define(target, name, JSON.parse(json));
}

/** An assignment would call the setter of a key such as `__proto__`. */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}

/** `next` resolves with the next reply of the thread. */
async function withThread<T>(job: Job, use: (next: () => Promise<Reply>) => Promise<T>): Promise<T> {
  const thread = new Worker(threadFile(), {
    workerData: job,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  let answer: (reply: Reply) => void = () => {};
  let ended: Reply | undefined;
  const end = (reason: string): void => {
    ended ??= { fault: { status: 400, reason } };
    answer(ended);
  };
  const timer = setTimeout(() => end("the document takes too long to read: split it"), MAX_MS);
  thread.on("message", (reply: Reply) => answer(reply));
  thread.once("error", (error) => end(`the document cannot be read: ${error.message}`));
  thread.once("exit", () => end("the document cannot be read"));
  const next = (): Promise<Reply> =>
    new Promise((resolve) => {
      answer = resolve;
      if (ended) resolve(ended);
      else thread.postMessage("next");
    });
  try {
    return await use(next);
  } finally {
    clearTimeout(timer);
    void thread.terminate();
  }
}

/** The bundled file of the thread, relative to the bundle or to the source. */
function threadFile(): string {
  const candidates = ["./document-thread.js", "../document-thread.js", "../../../dist/document-thread.js"];
  const files = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const file = files.find((one) => existsSync(one));
  if (file === undefined) throw new Error("the reader of documents is missing from this installation");
  return file;
}
