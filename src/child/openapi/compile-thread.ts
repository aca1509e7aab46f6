/**
 * The thread that reads the documents of an API and makes its tools. A hostile document can take long and
 * much memory to read, and a thread can be ended. It opens no file and no connection: it asks for documents.
 */
import { parentPort, workerData } from "node:worker_threads";
import { type Compiled, type CompileOptions, compile } from "./compile.ts";
import { readDocuments } from "./read-documents.ts";

export interface CompileJob {
  readonly uri: string;
  readonly options: CompileOptions;
}

export type FromThread =
  | { readonly load: string }
  | { readonly compiled: Omit<Compiled, "pages"> & { readonly pages: readonly Uint8Array[] } }
  | { readonly fault: string };

/** The answer to the oldest `load` without one. */
export type ToThread = { readonly bytes: Uint8Array } | { readonly refused: string };

const { uri: root, options } = workerData as CompileJob;
const waiting: ((answer: ToThread) => void)[] = [];
parentPort?.on("message", (answer: ToThread) => waiting.shift()?.(answer));

async function load(uri: string): Promise<string> {
  parentPort?.postMessage({ load: uri } satisfies FromThread);
  const answer = await new Promise<ToThread>((resolve) => waiting.push(resolve));
  if ("refused" in answer) throw new Error(answer.refused);
  return new TextDecoder("utf-8").decode(answer.bytes);
}

async function run(): Promise<void> {
  const { pages, ...rest } = compile(await readDocuments(root, load), options);
  const bytes = pages.map((page) => new TextEncoder().encode(page));
  const message: FromThread = { compiled: { ...rest, pages: bytes } };
  parentPort?.postMessage(
    message,
    bytes.map(({ buffer }) => buffer),
  );
}

run().catch((error: Error) => parentPort?.postMessage({ fault: error.message } satisfies FromThread));
