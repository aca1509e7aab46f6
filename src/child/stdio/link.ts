/**
 * The link to one child process. Reports its end as one event, and ends all its processes. Knows messages,
 * but no protocol above them.
 */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Mask } from "../../kernel/secret.ts";
import { withOutput } from "../../kernel/with-output.ts";
import { LineWriter } from "../../rpc/encode.ts";
import { ownId } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import type { Via } from "../../rpc/peer.ts";
import { Brake } from "../brake.ts";
import { ChildFailure, type Link, type LinkEvents } from "../link.ts";
import { hasHandedOver } from "./hand-over.ts";
import { removal } from "./npx-cache.ts";
import type { ProcessTree } from "./process-tree.ts";
import { Stderr } from "./stderr.ts";
import { Stdout } from "./stdout.ts";
import { end } from "./stop.ts";
import { tellingLines } from "./telling-lines.ts";

export interface LinkOptions {
  readonly server: string;
  readonly mask: Mask;
  readonly events: LinkEvents;
  readonly log: Log;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  /** Called for each line of stderr that is logged. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** Callers are not who runs the server: no text for them contains its output. */
  readonly hidesOutput?: boolean;
  /** Set if a package runner may install the server first. */
  readonly install?: { readonly folder: string | undefined } | undefined;
  /** What mends it, if its output says so. */
  readonly advice?: (output: string) => string | undefined;
  /** No process is left. Ends what was around them. */
  readonly onEnded: () => Promise<void>;
}

/**
 * Wait for the last output after the exit: it is still in the pipe. A grandchild may keep the pipe open for
 * ever.
 */
const LAST_BYTES_MS = 100;
/** Wait for the exit code after the streams closed. On a busy machine it comes much later. */
const EXIT_MS = 1_000;
/** More than the kept output has. */
const ALL_LINES = 1_000;
/** Number of lines of output shown with a failure. */
const LAST_LINES = 5;

export class StdioLink implements Link {
  readonly peer: string;
  readonly pid: number | undefined;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #tree: ProcessTree;
  readonly #options: LinkOptions;
  readonly #stderr: Stderr;
  readonly #stdout: Stdout;
  readonly #writer: LineWriter;
  /**
   * The last requests, with the position behind each. Those that are written are removed when the next one is
   * sent.
   */
  readonly #requests: { readonly id: number; readonly end: number }[] = [];
  readonly #brake: Brake;
  /** Bytes of answers since everything was written for the last time. */
  #answers = 0;
  #installing: boolean;
  #reporting = false;
  #closed = false;
  #ending: Promise<void> | undefined;

  /**
   * Create it in the same turn of the event loop in which the process was started, so that no event is
   * missed.
   */
  constructor(child: ChildProcessWithoutNullStreams, tree: ProcessTree, options: LinkOptions) {
    this.peer = `pid ${tree.pid}`;
    this.pid = tree.pid;
    this.#process = child;
    this.#tree = tree;
    this.#options = options;
    this.#installing = options.install !== undefined;
    this.#stderr = new Stderr(child.stderr, options);
    this.#writer = new LineWriter(child.stdin, {
      byTurn: true,
      onError: () => this.#onEnd(),
      onDrain: () => this.#drained(),
    });
    this.#brake = new Brake({
      clock: options.clock,
      onStuck: (reason) => this.#fail(new ChildFailure("other", reason)),
    });
    this.#brake.add(child.stdout);
    this.#stdout = new Stdout(child.stdout, {
      ...options,
      onMessage: (message) => {
        if (!this.#closed) options.events.onMessage(message, undefined);
      },
      answer: (message) => this.send(message),
    });
    // Emitted for a failed signal, which the sender notices itself.
    child.on("error", () => {});
    child.on("exit", () => this.#exited());
    child.stdout.on("close", () => this.#onEnd());
  }

  send(message: Message, _via?: Via, alone?: boolean): void {
    if (this.#closed) return;
    const writer = this.#writer;
    if (writer.written === writer.position) this.#requests.length = 0;
    const start = writer.position;
    writer.send(message, alone);
    if (message.kind === "request") this.#requests.push({ id: ownId(message.id), end: writer.position });
    else this.#answered(writer.position - start);
  }

  #answered(bytes: number): void {
    this.#answers += bytes;
    this.#brake.update(Math.min(this.#answers, this.#writer.backlog));
  }

  #drained(): void {
    this.#answers = 0;
    this.#brake.update(0);
  }

  agreed(): void {}

  lastWords(): string | undefined {
    return this.#options.hidesOutput ? undefined : this.#outputOr(this.#stderr.lastLines(1))[0]?.trim();
  }

  installing(): boolean {
    // Once the server runs, it is not asked again.
    this.#installing &&= !this.#stdout.heard && !hasHandedOver(this.#tree.pid);
    return this.#installing;
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.#end();
  }

  /** Resolves when all processes have ended, and their container; undefined before the end begins. */
  get ending(): Promise<void> | undefined {
    return this.#ending;
  }

  #exited(): void {
    this.#tree.childExited();
    this.#brake.release();
    this.#stdout.release();
    this.#stderr.release();
    this.#onEnd();
  }

  /**
   * The first sign of the end. Waits a moment for the exit code and the last output before it reports the
   * failure.
   */
  #onEnd(): void {
    if (this.#reporting || this.#closed) return;
    this.#reporting = true;
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
    for (const { id, end } of this.#requests)
      if (this.#writer.isUnread(end)) this.#options.events.onFailed(id, this.#failure(true));
    this.#fail(this.#failure());
  }

  #fail(failure: ChildFailure): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.events.onClosed(failure);
    // Processes of the tree may still run.
    void this.#end();
  }

  #failure(unsent = false): ChildFailure {
    const { exitCode, signalCode } = this.#process;
    let what = "The process closed its input or output, so it was ended";
    if (signalCode !== null) what = `The process was killed by ${signalCode}`;
    else if (exitCode !== null) what = `The process exited with code ${exitCode}`;
    const printed = this.#stderr.lastLines(ALL_LINES);
    const { hidesOutput } = this.#options;
    const advice = this.#options.advice?.(printed.join("\n"));
    if (advice && !hidesOutput) what = `${what}. ${advice}`;
    const output = this.#outputOr(tellingLines(printed, LAST_LINES)).join("\n").trimStart();
    if (output === "") return new ChildFailure("stdio-exit", `${what}.`, { unsent });
    if (hidesOutput) {
      const shown = advice ? `${output}\n${advice}` : output;
      return new ChildFailure("stdio-exit", `${what}.`, { unsent, output: shown });
    }
    return new ChildFailure("stdio-exit", withOutput(`${what}.`, output), { unsent });
  }

  /**
   * These words of stderr; without any, the last line of stdout that is no message. A program that is no MCP
   * server prints there.
   */
  #outputOr(words: string[]): string[] {
    const garbage = this.#stdout.lastGarbage;
    if (words.length > 0 || garbage === undefined) return words;
    return [`${garbage} (on stdout, which is only for protocol messages)`];
  }

  #end(): Promise<void> {
    this.#ending ??= this.#endNow();
    return this.#ending;
  }

  async #endNow(): Promise<void> {
    const { log, clock, server, install } = this.#options;
    const { exitCode, signalCode } = this.#process;
    if (install?.folder && exitCode === null && signalCode === null && this.installing())
      log.warn(
        `${server}: ended while it was being installed. If it does not start any more: ${removal(install.folder)}`,
        {
          server,
        },
      );
    this.#brake.release();
    this.#writer.flush();
    this.#process.stdin.end();
    await end(this.#tree, { log, clock, name: server });
    // A process that we cannot end may hold the other ends of the pipes.
    this.#process.stdin.destroy();
    this.#process.stdout.destroy();
    this.#process.stderr.destroy();
    await this.#options.onEnded();
  }
}
