/**
 * What a child says on stderr: a bounded part of it goes to our log with the child's name, at debug, as most of it is said
 * by servers that work. The last lines are kept: they are shown with the failure when the child fails. Never on our stdout.
 */
import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Mask } from "../../kernel/secret.ts";
import { LineGate } from "./line-gate.ts";
import { Throttle } from "./throttle.ts";

interface StderrOptions {
  readonly server: string;
  readonly mask: Mask;
  readonly log: Log;
  readonly clock: Clock;
  /** Hears each line that is logged. */
  readonly onLine?: ((line: string) => void) | undefined;
}

const LINES_PER_SECOND = 50;
const LINE_BYTES = 2_000;
const TAIL_BYTES = 8_192;
/** Of each of the last lines: they become part of an error that a model reads. */
const LAST_LINE_LENGTH = 500;
const NEWLINE = 10;
const EMPTY: Buffer = Buffer.alloc(0);

/** What surrounds the message when Node dies of an exception: without it the message is among the last lines. */
const STACK =
  /^at .*(?::\d+|<anonymous>|native)\)?,?(?: \{)?$|^[{}[\]^~,]+$|^Node\.js v\d|^node:internal\/|^throw \w+;$/;

export class Stderr {
  readonly #options: StderrOptions;
  readonly #gate: LineGate;
  readonly #throttle: Throttle;
  /** The last bytes as they came; read only when somebody asks. */
  #tail = EMPTY;
  /** The beginning of a line whose end has not come. */
  #open = EMPTY;

  constructor(stream: Readable, options: StderrOptions) {
    this.#options = options;
    const { clock, log, server } = options;
    this.#throttle = new Throttle(stream, clock);
    this.#gate = new LineGate({
      clock,
      perSecond: LINES_PER_SECOND,
      onHeldBack: (lines) => log.debug(`${lines} more lines of stderr not shown`, { server }),
    });
    stream.on("data", (chunk: Buffer) => this.#take(chunk));
    stream.on("error", () => {});
    stream.on("close", () => this.#flush());
  }

  /** The last lines that say something, oldest first. */
  lastLines(count: number): string[] {
    return this.#tail
      .toString("utf8")
      .split("\n")
      .map(readable)
      .filter((line) => line !== "" && !STACK.test(line))
      .slice(-count)
      .map((line) => shortened(this.#options.mask(line)));
  }

  /** The child is dead. */
  release(): void {
    this.#throttle.release();
  }

  /** A last line without an end, and what was held back. */
  #flush(): void {
    if (this.#open.length > 0) this.#tell(this.#open);
    this.#open = EMPTY;
    this.#gate.flush();
  }

  #take(chunk: Buffer): void {
    this.#throttle.count(chunk.length);
    this.#tail = lastBytes(this.#tail, chunk);
    let from = 0;
    while (this.#gate.isOpen()) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end < 0) break;
      this.#tell(firstBytes(this.#open, chunk.subarray(from, end)));
      this.#open = EMPTY;
      from = end + 1;
    }
    const rest = this.#gate.isOpen() ? from : this.#skipLines(chunk, from);
    if (rest < chunk.length) this.#open = firstBytes(this.#open, chunk.subarray(rest));
  }

  /** Byte by byte, which for short lines is far cheaper than looking at each. Returns where the last, open one begins. */
  #skipLines(chunk: Buffer, from: number): number {
    let rest = from;
    let lines = 0;
    for (let at = from; at < chunk.length; at++) {
      if (chunk[at] !== NEWLINE) continue;
      rest = at + 1;
      lines += 1;
    }
    if (lines > 0) this.#open = EMPTY;
    this.#gate.hold(lines);
    return rest;
  }

  #tell(line: Buffer): void {
    if (!this.#gate.pass()) return;
    const { log, server, mask, onLine } = this.#options;
    const text = mask(readable(line.toString("utf8", 0, LINE_BYTES)));
    if (text === "") return;
    const shown = line.length > LINE_BYTES ? `${text} …` : text;
    onLine?.(shown);
    log.debug(shown, { server, stream: "stderr" });
  }
}

/** One byte more than is shown, to tell that there was more. Copied, so as not to hold on to the chunk. */
function firstBytes(open: Buffer, more: Buffer): Buffer {
  if (open.length > LINE_BYTES || more.length === 0) return open;
  return Buffer.concat([open, more.subarray(0, LINE_BYTES + 1)]).subarray(0, LINE_BYTES + 1);
}

function lastBytes(tail: Buffer, chunk: Buffer): Buffer {
  if (chunk.length >= TAIL_BYTES) return Buffer.from(chunk.subarray(-TAIL_BYTES));
  return Buffer.concat([tail.subarray(-(TAIL_BYTES - chunk.length)), chunk]);
}

function shortened(line: string): string {
  return line.length > LAST_LINE_LENGTH ? `${line.slice(0, LAST_LINE_LENGTH)} …` : line;
}

/** For a terminal that obeys no child: no colours, no control characters; of a line drawn over itself, the last state. */
export function readable(line: string): string {
  const states = stripVTControlCharacters(line).trimEnd().split("\r");
  return (states.at(-1) ?? "").replaceAll(/ *\p{Cc}[\p{Cc} ]*/gu, " ").trim();
}
