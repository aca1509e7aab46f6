/** The open way to one child process. Turns its death into one event and leaves nothing of it behind; knows no protocol above messages. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Mask } from "../../kernel/secret.ts";
import { LineWriter } from "../../rpc/encode.ts";
import type { Message } from "../../rpc/message.ts";
import type { Via } from "../../rpc/peer.ts";
import { ChildFailure, type Link, type LinkEvents } from "../link.ts";
import type { Family } from "./family.ts";
import { Stderr } from "./stderr.ts";
import { Stdout } from "./stdout.ts";
import { end } from "./stop.ts";

export interface LinkOptions {
  readonly server: string;
  readonly mask: Mask;
  readonly events: LinkEvents;
  readonly log: Log;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  /** Hears each line of stderr that is logged. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** Nothing is left of it. */
  readonly onEnded: () => void;
}

/** What a dead child wrote last is still in the pipe; a grandchild can hold that open for ever. */
const LAST_BYTES_MS = 100;
/** On a busy machine the streams of a dead child close long before it is known how it died. */
const EXIT_MS = 1_000;
const LAST_LINES = 5;

export class StdioLink implements Link {
  readonly peer: string;
  readonly pid: number | undefined;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #family: Family;
  readonly #options: LinkOptions;
  readonly #stderr: Stderr;
  readonly #stdout: Stdout;
  readonly #writer: LineWriter;
  #losing = false;
  #closed = false;
  #ending: Promise<void> | undefined;

  /** To be made in the turn in which the process was started: its events are not repeated. */
  constructor(child: ChildProcessWithoutNullStreams, family: Family, options: LinkOptions) {
    this.peer = `pid ${family.pid}`;
    this.pid = family.pid;
    this.#process = child;
    this.#family = family;
    this.#options = options;
    this.#stderr = new Stderr(child.stderr, options);
    this.#writer = new LineWriter(child.stdin, { byTurn: true, onError: () => this.#lose() });
    this.#stdout = new Stdout(child.stdout, {
      ...options,
      onMessage: (message) => {
        if (!this.#closed) options.events.onMessage(message, undefined);
      },
      answer: (message) => this.send(message),
    });
    // A signal that failed is noticed by who sent it.
    child.on("error", () => {});
    child.on("exit", () => this.#exited());
    child.stdout.on("close", () => this.#lose());
  }

  send(message: Message, _via?: Via, alone?: boolean): void {
    if (!this.#closed) this.#writer.send(message, alone);
  }

  agreed(): void {}

  lastWords(): string | undefined {
    return this.#said(1)[0];
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.#end();
  }

  /** Undefined while it has not begun to end. */
  get ending(): Promise<void> | undefined {
    return this.#ending;
  }

  #exited(): void {
    this.#family.childExited();
    this.#stdout.release();
    this.#stderr.release();
    this.#lose();
  }

  /** The first sign of the end; the event waits a moment for the rest of what the child had to say. */
  #lose(): void {
    if (this.#losing || this.#closed) return;
    this.#losing = true;
    const { clock } = this.#options;
    const { exitCode, signalCode } = this.#process;
    const ended = exitCode !== null || signalCode !== null;
    let timer = clock.after(ended ? LAST_BYTES_MS : EXIT_MS, () => this.#report());
    this.#process.once("exit", () => {
      timer.cancel();
      timer = clock.after(LAST_BYTES_MS, () => this.#report());
    });
    this.#process.once("close", () => {
      timer.cancel();
      this.#report();
    });
  }

  #report(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.events.onClosed(this.#failure());
    // Its group, or what left it, may live on.
    void this.#end();
  }

  #failure(): ChildFailure {
    const { exitCode, signalCode } = this.#process;
    let what = "The process closed its input or output, so it was ended";
    if (signalCode !== null) what = `The process was killed by ${signalCode}`;
    else if (exitCode !== null) what = `The process exited with code ${exitCode}`;
    const words = this.#said(LAST_LINES);
    return new ChildFailure(
      "stdio-exit",
      words.length === 0 ? `${what}.` : `${what}. Its output: ${words.join("\n")}`,
    );
  }

  /** A program that speaks no MCP tends to say so on stdout. */
  #said(lines: number): string[] {
    const words = this.#stderr.lastLines(lines);
    const garbage = this.#stdout.lastGarbage;
    if (words.length > 0 || garbage === undefined) return words;
    return [`${garbage} (on stdout, which is only for protocol messages)`];
  }

  #end(): Promise<void> {
    this.#ending ??= this.#endNow();
    return this.#ending;
  }

  async #endNow(): Promise<void> {
    const { log, clock, server } = this.#options;
    this.#writer.flush();
    this.#process.stdin.end();
    await end(this.#family, { log, clock, name: server });
    // Somebody out of our reach may hold the other ends.
    this.#process.stdin.destroy();
    this.#process.stdout.destroy();
    this.#process.stderr.destroy();
    this.#options.onEnded();
  }
}
