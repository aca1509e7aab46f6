/** The answer of another replica on its way to the client. */
import type { ServerResponse } from "node:http";
import { encodeEvent } from "../rpc/event-stream.ts";
import type { StrayRequest } from "../transport/http/owners.ts";
import type { Failure, Passage } from "./hop-channel.ts";
import { MISDIRECTED, OWNER } from "./hop-protocol.ts";

/** Those that belong to one connection. */
const NOT_PASSED: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);
const HEAD_END = "\r\n\r\n";

/** What became of a request that was passed on. */
export type Passed =
  | { readonly as: "answered" }
  /** Another replica has the session; undefined: nobody, it may be taken up. */
  | { readonly as: "moved"; readonly owner: string | undefined }
  /** The other replica is of a version that passes requests on in another way. */
  | { readonly as: "incompatible" }
  /** Nothing was sent, or what was sent may be sent again. */
  | { readonly as: "unreachable"; readonly refuses: boolean };

interface AnswerParts {
  readonly onPassed: (passed: Passed) => void;
  /** The answer has begun. */
  readonly onBegun: () => void;
  /** The client reads again. */
  readonly onDrain: () => void;
}

export class RelayedAnswer implements Passage {
  readonly content: readonly Buffer[];
  readonly #stray: StrayRequest;
  readonly #parts: AnswerParts;
  number: number | undefined;
  #state: "waiting" | "body" | "events" | "over" = "waiting";
  #flush: NodeJS.Immediate | undefined;
  #full = false;

  constructor(stray: StrayRequest, content: readonly Buffer[], parts: AnswerParts) {
    this.#stray = stray;
    this.content = content;
    this.#parts = parts;
  }

  get #response(): ServerResponse {
    return this.#stray.received.response;
  }

  answer(content: Buffer): boolean {
    const end = content.indexOf(HEAD_END);
    if (end < 0) throw new Error("this is not an answer");
    const { status, headers, length, isStream } = headOf(content.toString("latin1", 0, end));
    const named = headers.indexOf(OWNER);
    if (status === MISDIRECTED && named >= 0) {
      this.#state = "over";
      this.#parts.onPassed({ as: "moved", owner: headers[named + 1] || undefined });
      return true;
    }
    this.#response.writeHead(status, headers);
    this.#state = isStream && length === undefined ? "events" : "body";
    this.#parts.onBegun();
    this.#parts.onPassed({ as: "answered" });
    const body = content.subarray(end + HEAD_END.length);
    if (body.length === length) {
      this.#state = "over";
      this.#response.end(body);
      return true;
    }
    if (body.length > 0) return this.data(body);
    // The first event has often arrived together with the head: then both leave together.
    if (isStream) this.#flush = setImmediate(() => this.#response.flushHeaders());
    return true;
  }

  data(content: Buffer): boolean {
    if (this.#state === "over") return true;
    clearImmediate(this.#flush);
    // What was on its way when the other replica was told to pause arrives all the same.
    if (this.#response.write(content) || this.#full) return true;
    this.#full = true;
    this.#response.once("drain", () => {
      this.#full = false;
      this.#parts.onDrain();
    });
    return false;
  }

  end(): void {
    if (this.#state === "over") return;
    clearImmediate(this.#flush);
    this.#response.end();
  }

  failed({ as, refused }: Failure): void {
    const { lost, harmless } = this.#stray;
    if (this.#state === "events") endLost(this.#response, lost());
    else if (this.#state === "body") this.#response.destroy();
    else if (this.#state === "over") return;
    else if (this.#response.destroyed || (this.number !== undefined && !harmless)) {
      endLost(this.#response, lost());
      this.#parts.onPassed({ as: "answered" });
    } else this.#parts.onPassed(as === "incompatible" ? { as } : { as: "unreachable", refuses: refused });
  }
}

/** The head of an answer as the HTTP server of Node writes it. Headers are names and values in turn. */
function headOf(text: string) {
  const [first = "", ...lines] = text.split("\r\n");
  const headers: string[] = [];
  let length: number | undefined;
  let isStream = false;
  for (const line of lines) {
    const colon = line.indexOf(": ");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 2);
    if (NOT_PASSED.has(name)) continue;
    if (name === "content-length") length = Number(value);
    else if (name === "content-type") isStream = value.startsWith("text/event-stream");
    headers.push(name, value);
  }
  return { status: Number(first.split(" ", 2)[1]), headers, length, isStream };
}

/**
 * Answers a request whose outcome is not known. A stream that answers no request just ends: its client opens
 * it again.
 */
function endLost(response: ServerResponse, lost: Buffer | undefined): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.headersSent) {
    if (lost) response.write(Buffer.concat(encodeEvent([lost])));
    response.end();
  } else if (lost)
    response.writeHead(200, { "content-type": "application/json", "content-length": lost.length }).end(lost);
  else response.writeHead(503, { "retry-after": "1" }).end();
}
