/**
 * One sandbox host: a child process with an empty environment that runs untrusted code. Checks every frame,
 * and kills a host that is silent or breaks the protocol.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Execution, ExecutionHost } from "./execution.ts";
import { type Failure, LIMITS } from "./executor.ts";
import { FrameReader, readFromHost, writeFrame } from "./frames.ts";

export interface RunUser {
  readonly uid: number;
  readonly gid: number;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the user of this process. */
  readonly user?: RunUser | undefined;
  /** Cleans up after the process was killed, e.g. ends a container that outlives it. */
  readonly killed?: () => void;
}

export interface HostOptions {
  readonly launch: Launch;
  readonly clock: Clock;
  readonly log: Log;
  /** Engines that the host prepares in advance. */
  readonly spare: number;
  readonly onExit: (host: HostProcess) => void;
  /** A run that the host had taken has left it. */
  readonly onFree: (execution: Execution) => void;
}

/** Timeout for the start of a host. */
const START_MS = 20_000;
/** A host may be silent for the longest `cpuMs` of its runs plus this. */
const SILENCE_MS = 1_000;
const CHECK_MS = 250;
/** Timeout for the exit of an idle host whose stdin was closed. */
const EXIT_MS = 1_000;
/** Limit per second of bytes that no limit of a run counts: heartbeats, progress, frames without a run. */
const MAX_UNCOUNTED = 4 << 20;
/** Each frame counts as this many bytes in addition to its length. */
const FRAME_COST = 64;
/** Limit of bytes that the host has not read yet. */
const MAX_UNREAD = 256 << 20;
/** A host with runs that is silent for this long is computing. */
const BUSY_MS = 300;

export class HostProcess implements ExecutionHost {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #options: HostOptions;
  readonly #runs = new Map<number, Execution>();
  /** Runs that wait until the host is ready. */
  readonly #waiting: Execution[] = [];
  readonly exited: Promise<void>;
  /** Resolves when the host is ready or has ended. */
  readonly started: Promise<void>;
  #resolveStarted!: () => void;
  #ready = false;
  #gone = false;
  #retiring = false;
  #served = 0;
  #lastSeen: number;
  /** Id of the run that the last heartbeat named. */
  #computing: number | undefined;
  #check: Timer | undefined;
  #uncounted = 0;
  #uncountedSince = 0;
  /** The run that caused the end of the host. */
  #culprit: { readonly id: number; readonly failure: Failure } | undefined;
  #exitTimer: Timer | undefined;
  #reason = "The sandbox ended unexpectedly.";

  constructor(options: HostOptions) {
    this.#options = options;
    const { command, args, env = {}, user } = options.launch;
    this.#lastSeen = options.clock.now();
    this.started = new Promise((resolve) => {
      this.#resolveStarted = resolve;
    });
    this.#child = spawn(command, args, {
      env,
      cwd: "/",
      stdio: ["pipe", "pipe", "ignore"],
      ...(user && { uid: user.uid, gid: user.gid }),
    });
    this.#child.stdin.on("error", () => {});
    const lines = new FrameReader(
      (line) => this.#receive(line),
      () => this.#killForViolation("a frame that is too long"),
    );
    this.#child.stdout.on("data", (chunk: Buffer) => lines.push(chunk));
    this.exited = new Promise((resolve) => {
      const gone = (): void => {
        this.#end();
        resolve();
      };
      this.#child.once("error", (error) => {
        this.#reason = `The sandbox could not be started: ${error.message}`;
        gone();
      });
      this.#child.once("close", gone);
    });
    this.write(writeFrame({ type: "init", limits: LIMITS, spare: options.spare }));
    this.#scheduleCheck();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get load(): number {
    return this.#runs.size + this.#waiting.length;
  }

  get served(): number {
    return this.#served;
  }

  /** A retiring host takes no further runs and ends after its last one. */
  get retiring(): boolean {
    return this.#retiring;
  }

  get busy(): boolean {
    return this.load > 0 && this.#ready && this.#options.clock.now() - this.#lastSeen > BUSY_MS;
  }

  /** Whether the host has runs of another principal. */
  sharedWithOthers(principal: string): boolean {
    return this.#executions().some(({ run }) => run.principal !== principal);
  }

  hasRunsOf(principal: string): boolean {
    return this.#executions().some(({ run }) => run.principal === principal);
  }

  take(execution: Execution): void {
    this.#served++;
    if (this.#gone) this.#lose(execution);
    else if (this.#ready) this.#admit(execution);
    else this.#waiting.push(execution);
  }

  #admit(execution: Execution): void {
    if (execution.ended) {
      this.#options.onFree(execution);
      return this.#exitIfEmpty();
    }
    if (this.#runs.size === 0) this.#lastSeen = this.#options.clock.now();
    this.#runs.set(execution.id, execution);
    this.#scheduleCheck();
    execution.begin(this);
  }

  retire(): void {
    this.#retiring = true;
    this.#exitIfEmpty();
  }

  /** Closes stdin first, then kills: the code may ignore the end of stdin. */
  #exitIfEmpty(): void {
    if (!this.#retiring || this.load > 0 || this.#gone) return;
    this.#child.stdin.end();
    this.#exitTimer ??= this.#options.clock.after(EXIT_MS, () => this.killNow());
  }

  write(text: string): void {
    if (this.#gone) return;
    this.#child.stdin.write(text);
    if (this.#child.stdin.writableLength > MAX_UNREAD) this.#killForViolation("it does not read its input");
  }

  release(id: number): void {
    const execution = this.#runs.get(id);
    this.#runs.delete(id);
    if (execution) this.#options.onFree(execution);
    this.#exitIfEmpty();
  }

  kill(culprit: number, failure: Failure): void {
    this.#culprit ??= { id: culprit, failure };
    this.#reason = "Another run in the same sandbox had to be killed, which ended this one too.";
    this.killNow();
  }

  killNow(): void {
    if (this.#gone) return;
    // So that it gets no further runs until it has exited.
    this.#retiring = true;
    this.#child.kill("SIGKILL");
    this.#options.launch.killed?.();
  }

  #killForViolation(what: string): void {
    this.#options.log.error(`a sandbox host was killed: ${what}`);
    this.#reason = "The sandbox broke its protocol and was killed.";
    this.killNow();
  }

  #receive(line: string): void {
    this.#lastSeen = this.#options.clock.now();
    const frame = readFromHost(line);
    if (!frame) return this.#killForViolation("it sent an invalid message");
    // A frame without a run (an ended or forged id) is ignored, but counted.
    const run = "id" in frame && frame.id !== undefined ? this.#runs.get(frame.id) : undefined;
    if ((!run || frame.type === "heartbeat" || frame.type === "progress") && this.#exceedsUncounted(line))
      return this.#killForViolation("it sent more messages per second than the limit allows");
    if (frame.type === "heartbeat") this.#computing = frame.id;
    else if (frame.type === "ready") this.#start();
    else run?.receive(frame);
  }

  /** Counts a frame that no limit of a run counts. True if there are too many in this second. */
  #exceedsUncounted(line: string): boolean {
    if (this.#lastSeen - this.#uncountedSince > 1_000) {
      this.#uncountedSince = this.#lastSeen;
      this.#uncounted = 0;
    }
    this.#uncounted += line.length + FRAME_COST;
    return this.#uncounted > MAX_UNCOUNTED;
  }

  #start(): void {
    if (this.#ready) return;
    this.#ready = true;
    this.#resolveStarted();
    for (const execution of this.#waiting.splice(0)) this.#admit(execution);
  }

  /** Checks regularly whether the host still answers, while it starts or has runs. */
  #scheduleCheck(): void {
    const { clock } = this.#options;
    const from = clock.now();
    this.#check ??= clock.after(CHECK_MS, () => {
      this.#check = undefined;
      const now = clock.now();
      // If this process was suspended, it could not receive frames; that time does not count as silence.
      this.#lastSeen = Math.min(now, this.#lastSeen + Math.max(0, now - from - 2 * CHECK_MS));
      if (this.#isStuck(now - this.#lastSeen)) this.#killStuck();
      else if (!this.#ready || this.#runs.size > 0) this.#scheduleCheck();
    });
  }

  #isStuck(silentMs: number): boolean {
    if (!this.#ready) return silentMs > START_MS;
    return this.#runs.size > 0 && silentMs > this.#longestCpuMs() + SILENCE_MS;
  }

  #killStuck(): void {
    this.#reason = "The sandbox stopped answering and was killed.";
    const id = this.#runs.size === 1 ? [...this.#runs.keys()][0] : this.#computing;
    const run = id === undefined ? undefined : this.#runs.get(id);
    if (run) this.#culprit ??= { id: run.id, failure: run.cpuFailure };
    this.killNow();
  }

  #longestCpuMs(): number {
    let longest = 0;
    for (const { run } of this.#runs.values()) longest = Math.max(longest, run.limits.cpuMs);
    return longest;
  }

  #executions(): readonly Execution[] {
    return [...this.#runs.values(), ...this.#waiting];
  }

  #end(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#resolveStarted();
    this.#check?.cancel();
    this.#exitTimer?.cancel();
    const lost = this.#executions();
    this.#runs.clear();
    this.#waiting.length = 0;
    this.#options.onExit(this);
    for (const execution of lost) this.#lose(execution);
  }

  #lose(execution: Execution): void {
    const { id, failure } = this.#culprit ?? {};
    execution.lost(execution.id === id ? failure : undefined, this.#reason);
    this.#options.onFree(execution);
  }
}
