/**
 * The thread that reads one body with a large document, or one in YAML, and writes YAML. Parsers cannot be
 * interrupted, but a thread can be ended. It gives the value back in pieces, because receiving it at once
 * would block the event loop like parsing it.
 */
import { parentPort, workerData } from "node:worker_threads";
import { LineCounter, parseDocument, stringify } from "yaml";
import { isRecord } from "../../kernel/is-record.ts";
import { asRaw } from "../../kernel/raw.ts";
import { hasManyValues } from "../../rpc/many-values.ts";
import { faultIn, MAX_VALUES, SECTIONS, type ValueFault } from "../value-limits.ts";
import { REPEATED_KEY, repeatedKeyIn } from "./repeated-yaml-key.ts";

export type Job =
  | { readonly read: Uint8Array; readonly type: "json" | "yaml" }
  /** JSON, to be written as YAML. */
  | { readonly write: string };

/** A part of the value: the keys on the way to it, and its JSON. */
export type Piece = readonly [path: readonly string[], json: string];

/** The thread sends one of these for each message that it gets. No pieces: that was all. */
export type Reply =
  | { readonly pieces: readonly Piece[] }
  | { readonly yaml: string }
  | { readonly fault: ValueFault };

const MAX_ALIASES = 100;
/** Aliases repeat parts of a document, so the JSON can be longer than the YAML. */
const MAX_JSON = 32 * 1024 * 1024;
const MAX_PIECE = 1024 * 1024;
const BATCH = 128 * 1024;
/** An object of the config is a piece: /document/servers/NAME. */
const PIECE_DEPTH = SECTIONS + 1;

async function* repliesTo(job: Job): AsyncGenerator<Reply> {
  if ("write" in job) return yield { yaml: stringify(JSON.parse(job.write)) };
  const text = textOf(job.read);
  const value = job.type === "json" ? jsonOf(text) : await yamlOf(text);
  const fault = faultIn(value, { wide: SECTIONS });
  if (fault) return yield { fault };
  let [batch, length, total]: [Piece[], number, number] = [[], 0, 0];
  for (const [path, json] of piecesOf(value)) {
    const bytes = Buffer.from(json);
    if (bytes.length > MAX_PIECE || hasManyValues(asRaw(bytes), MAX_VALUES, MAX_VALUES))
      throw new Fault(413, `an object may have at most ${MAX_PIECE} bytes and ${MAX_VALUES} values`);
    total += bytes.length;
    if (total > MAX_JSON) throw new Fault(413, "the aliases of this YAML repeat too much");
    batch.push([path, json]);
    length += json.length;
    if (length < BATCH) continue;
    yield { pieces: batch };
    [batch, length] = [[], 0];
  }
  if (batch.length > 0) yield { pieces: batch };
  yield { pieces: [] };
}

class Fault extends Error {
  readonly status: ValueFault["status"];

  constructor(status: ValueFault["status"], reason: string) {
    super(reason);
    this.status = status;
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Fault(400, "the body is not valid UTF-8");
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Fault(400, `the body is not valid JSON: ${(error as Error).message}`);
  }
}

async function yamlOf(text: string): Promise<unknown> {
  const invalid = (reason: string): Fault => new Fault(400, `the body is not valid YAML: ${reason}`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  const [error] = document.errors;
  if (error) throw invalid(error.message);
  const repeated = await repeatedKeyIn(document.contents);
  if (repeated !== undefined) {
    const { line, col } = lines.linePos(repeated);
    throw invalid(`${REPEATED_KEY} at line ${line}, column ${col}`);
  }
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown;
  } catch (tooMany) {
    throw invalid((tooMany as Error).message);
  }
}

function* piecesOf(value: unknown, path: readonly string[] = []): Generator<Piece> {
  const entries = isRecord(value) && path.length < PIECE_DEPTH ? Object.entries(value) : [];
  if (entries.length === 0) yield [path, JSON.stringify(value ?? null)];
  for (const [key, one] of entries) yield* piecesOf(one, [...path, key]);
}

const replies = repliesTo(workerData as Job);

async function reply(): Promise<void> {
  try {
    const { value } = await replies.next();
    parentPort?.postMessage(value);
  } catch (error) {
    const status = error instanceof Fault ? error.status : 400;
    parentPort?.postMessage({ fault: { status, reason: (error as Error).message } } satisfies Reply);
  }
}

parentPort?.on("message", () => void reply());
