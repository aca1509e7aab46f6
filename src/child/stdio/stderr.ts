/**
 * Reads stderr of a child. A limited part goes to our log at level debug, because most servers print there
 * although they work. The last lines are kept and shown if the child fails. Nothing goes to our stdout.
 */
import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Mask } from "../../kernel/secret.ts";
import { LineLimiter } from "./line-limiter.ts";
import { Throttle } from "./throttle.ts";

interface StderrOptions {
  readonly server: string;
  readonly mask: Mask;
  readonly log: Log;
  readonly clock: Clock;
  /** Called for each line that is logged, with its indentation. */
  readonly onLine?: ((line: string) => void) | undefined;
}

const LINES_PER_SECOND = 50;
const LINE_BYTES = 2_000;
const TAIL_BYTES = 8_192;
/** The last lines become part of an error that a model reads, so each is shortened to this length. */
const LAST_LINE_LENGTH = 500;
const NEWLINE = 10;
const EMPTY: Buffer = Buffer.alloc(0);

/**
 * Lines around the message when Node ends with an exception. Without them the message is among the last
 * lines.
 */
const STACK =
  /^at .*(?::\d+|<anonymous>|native)\)?,?(?: \{)?$|^[{}[\]^~,]+$|^Node\.js v\d|^node:internal\/|^throw \w+;$/;

export class Stderr {
  readonly #options: StderrOptions;
  readonly #limiter: LineLimiter;
  readonly #throttle: Throttle;
  /** The last bytes, unparsed. */
  #tail = EMPTY;
  /** The beginning of an incomplete line. */
  #open = EMPTY;

  constructor(stream: Readable, options: StderrOptions) {
    this.#options = options;
    const { clock, log, server } = options;
    this.#throttle = new Throttle(stream, clock);
    this.#limiter = new LineLimiter({
      clock,
      perSecond: LINES_PER_SECOND,
      onSkipped: (lines) => log.debug(`${lines} more lines of stderr not shown`, { server }),
    });
    stream.on("data", (chunk: Buffer) => this.#take(chunk));
    stream.on("error", () => {});
    stream.on("close", () => this.#flush());
  }

  /** The last lines with content and their indentation, oldest first. */
  lastLines(count: number): string[] {
    return this.#tail
      .toString("utf8")
      .split("\n")
      .map((raw) => ({ indent: indentOf(raw), text: readable(raw) }))
      .filter(({ text }) => text !== "" && !STACK.test(text))
      .slice(-count)
      .map(({ indent, text }) => indent + shortened(this.#options.mask(text)));
  }

  /** The child has ended: read the rest without throttling. */
  release(): void {
    this.#throttle.release();
  }

  /** Logs an incomplete last line and the number of skipped lines. */
  #flush(): void {
    if (this.#open.length > 0) this.#log(this.#open);
    this.#open = EMPTY;
    this.#limiter.flush();
  }

  #take(chunk: Buffer): void {
    this.#throttle.count(chunk.length);
    this.#tail = lastBytes(this.#tail, chunk);
    let from = 0;
    while (this.#limiter.hasRoom()) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end < 0) break;
      this.#log(firstBytes(this.#open, chunk.subarray(from, end)));
      this.#open = EMPTY;
      from = end + 1;
    }
    const rest = this.#limiter.hasRoom() ? from : this.#skipLines(chunk, from);
    if (rest < chunk.length) this.#open = firstBytes(this.#open, chunk.subarray(rest));
  }

  /**
   * Counts the complete lines byte by byte, which is much faster than slicing each. Returns where the
   * incomplete last line begins.
   */
  #skipLines(chunk: Buffer, from: number): number {
    let rest = from;
    let lines = 0;
    for (let at = from; at < chunk.length; at++) {
      if (chunk[at] !== NEWLINE) continue;
      rest = at + 1;
      lines += 1;
    }
    if (lines > 0) this.#open = EMPTY;
    this.#limiter.skip(lines);
    return rest;
  }

  #log(line: Buffer): void {
    if (!this.#limiter.take()) return;
    const { log, server, mask, onLine } = this.#options;
    const raw = line.toString("utf8", 0, LINE_BYTES);
    const text = mask(readable(raw));
    if (text === "") return;
    const shown = line.length > LINE_BYTES ? `${text} …` : text;
    onLine?.(indentOf(raw) + shown);
    log.debug(shown, { server, stream: "stderr" });
  }
}

/**
 * Keeps one byte more than is shown, to know that the line was cut. Copies the bytes, so that the chunk can
 * be freed.
 */
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

const MOST_INDENT = 40;

/** Spaces before the text. A tab counts as four. */
function indentOf(line: string): string {
  const spaces = (/^[ \t]*/.exec(line)?.[0] ?? "").replaceAll("\t", "    ");
  return spaces.slice(0, MOST_INDENT);
}

/**
 * Removes colours and control characters, so that a child cannot control a terminal. Of a line overwritten
 * with \r, only the last state is kept.
 */
export function readable(line: string): string {
  const states = stripVTControlCharacters(line).trimEnd().split("\r");
  return (states.at(-1) ?? "").replaceAll(/ *\p{Cc}[\p{Cc} ]*/gu, " ").trim();
}
