/** One sandbox host: a child process with an empty environment that runs strangers' code. Believes no frame of it, and kills it rather than wait for it. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Execution, HostSeat } from "./execution.ts";
import { type Failure, LIMITS } from "./executor.ts";
import { FrameReader, readFromHost, writeFrame } from "./frames.ts";

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What is left to do when its process was killed, e.g. a container that outlives it. */
  readonly killed?: () => void;
}

export interface HostOptions {
  readonly launch: Launch;
  readonly clock: Clock;
  readonly log: Log;
  /** Instances it keeps waiting. */
  readonly spare: number;
  readonly onExit: (host: HostProcess) => void;
  /** A run it had taken needs no place there any more. */
  readonly onFree: (execution: Execution) => void;
}

/** A host that starts up is given this long. */
const START_MS = 20_000;
/** On top of the longest stretch of computing that is allowed. */
const SILENCE_MS = 1_000;
const LOOK_MS = 250;
/** One that was told to end, and has nothing to do, is given this long. */
const LEAVE_MS = 1_000;
/** Bytes per second that no limit of a run counts: signs of life, progress, frames of no run. */
const MOST_NOISE = 4 << 20;
const NOISE_PER_FRAME = 64;
/** Bytes that it has not read yet. */
const MOST_UNREAD = 256 << 20;
/** Silent for this long while it has runs: somebody in there is computing. */
const BUSY_MS = 300;

export class HostProcess implements HostSeat {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #options: HostOptions;
  readonly #runs = new Map<number, Execution>();
  readonly #early: Execution[] = [];
  readonly exited: Promise<void>;
  /** Resolves when it can run something; also when it never will. */
  readonly started: Promise<void>;
  #started!: () => void;
  #ready = false;
  #gone = false;
  #retiring = false;
  #served = 0;
  #lastSeen: number;
  #computing: number | undefined;
  #watch: Timer | undefined;
  #noise = 0;
  #noiseSince = 0;
  #culprit: { readonly id: number; readonly failure: Failure } | undefined;
  #leaving: Timer | undefined;
  #reason = "The sandbox ended unexpectedly.";

  constructor(options: HostOptions) {
    this.#options = options;
    const { command, args, env = {} } = options.launch;
    this.#lastSeen = options.clock.now();
    this.started = new Promise((resolve) => {
      this.#started = resolve;
    });
    this.#child = spawn(command, args, {
      env,
      cwd: "/",
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#child.stdin.on("error", () => {});
    const lines = new FrameReader(
      (line) => this.#receive(line),
      () => this.#violate("a frame that is too long"),
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
    this.#watchOver();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get load(): number {
    return this.#runs.size + this.#early.length;
  }

  get served(): number {
    return this.#served;
  }

  /** Takes no further runs; ends when the last is over. */
  get retiring(): boolean {
    return this.#retiring;
  }

  get busy(): boolean {
    return this.load > 0 && this.#ready && this.#options.clock.now() - this.#lastSeen > BUSY_MS;
  }

  /** Whether somebody else's code is in there. */
  sharedWithOthers(principal: string): boolean {
    return this.#executions().some(({ run }) => run.principal !== principal);
  }

  /** Whether somebody's code is in there. */
  holds(principal: string): boolean {
    return this.#executions().some(({ run }) => run.principal === principal);
  }

  take(execution: Execution): void {
    this.#served++;
    if (this.#gone) this.#lose(execution);
    else if (this.#ready) this.#admit(execution);
    else this.#early.push(execution);
  }

  #admit(execution: Execution): void {
    if (execution.ended) {
      this.#options.onFree(execution);
      return this.#leaveIfEmpty();
    }
    if (this.#runs.size === 0) this.#lastSeen = this.#options.clock.now();
    this.#runs.set(execution.id, execution);
    this.#watchOver();
    execution.begin(this);
  }

  retire(): void {
    this.#retiring = true;
    this.#leaveIfEmpty();
  }

  /** It is asked to, then made to: what runs in there may not care. */
  #leaveIfEmpty(): void {
    if (!this.#retiring || this.load > 0 || this.#gone) return;
    this.#child.stdin.end();
    this.#leaving ??= this.#options.clock.after(LEAVE_MS, () => this.killNow());
  }

  write(text: string): void {
    if (this.#gone) return;
    this.#child.stdin.write(text);
    if (this.#child.stdin.writableLength > MOST_UNREAD) this.#violate("too little: it does not read");
  }

  left(id: number): void {
    const execution = this.#runs.get(id);
    this.#runs.delete(id);
    if (execution) this.#options.onFree(execution);
    this.#leaveIfEmpty();
  }

  kill(culprit: number, failure: Failure): void {
    this.#culprit ??= { id: culprit, failure };
    this.#reason = "Another run in the same sandbox had to be killed, which ended this one too.";
    this.killNow();
  }

  killNow(): void {
    if (this.#gone) return;
    // Nobody is sent to one that dies.
    this.#retiring = true;
    this.#child.kill("SIGKILL");
    this.#options.launch.killed?.();
  }

  #violate(what: string): void {
    this.#options.log.error(`a sandbox host was killed: it sent ${what}`);
    this.#reason = "The sandbox broke its protocol and was killed.";
    this.killNow();
  }

  #receive(line: string): void {
    this.#lastSeen = this.#options.clock.now();
    const frame = readFromHost(line);
    if (!frame) return this.#violate("something that is no frame");
    // One that was cancelled may still have something to say.
    const run = "id" in frame && frame.id !== undefined ? this.#runs.get(frame.id) : undefined;
    if ((!run || frame.type === "heartbeat" || frame.type === "progress") && this.#isNoise(line))
      return this.#violate("more than anyone needs");
    if (frame.type === "heartbeat") this.#computing = frame.id;
    else if (frame.type === "ready") this.#start();
    else run?.receive(frame);
  }

  #isNoise(line: string): boolean {
    if (this.#lastSeen - this.#noiseSince > 1_000) {
      this.#noiseSince = this.#lastSeen;
      this.#noise = 0;
    }
    this.#noise += line.length + NOISE_PER_FRAME;
    return this.#noise > MOST_NOISE;
  }

  #start(): void {
    if (this.#ready) return;
    this.#ready = true;
    this.#started();
    for (const execution of this.#early.splice(0)) this.#admit(execution);
  }

  /** Looks now and then whether it still answers, while it has something to do. */
  #watchOver(): void {
    const { clock } = this.#options;
    const from = clock.now();
    this.#watch ??= clock.after(LOOK_MS, () => {
      this.#watch = undefined;
      const now = clock.now();
      // Where we did not run ourselves, on a machine that stood still, nobody could be heard.
      this.#lastSeen = Math.min(now, this.#lastSeen + Math.max(0, now - from - 2 * LOOK_MS));
      if (this.#isStuck(now - this.#lastSeen)) this.#giveUp();
      else if (!this.#ready || this.#runs.size > 0) this.#watchOver();
    });
  }

  #isStuck(silentMs: number): boolean {
    if (!this.#ready) return silentMs > START_MS;
    return this.#runs.size > 0 && silentMs > this.#longestStretch() + SILENCE_MS;
  }

  #giveUp(): void {
    this.#reason = "The sandbox stopped answering and was killed.";
    const id = this.#runs.size === 1 ? [...this.#runs.keys()][0] : this.#computing;
    const run = id === undefined ? undefined : this.#runs.get(id);
    if (run) this.#culprit ??= { id: run.id, failure: run.tooLong };
    this.killNow();
  }

  #longestStretch(): number {
    let most = 0;
    for (const { run } of this.#runs.values()) most = Math.max(most, run.limits.cpuMs);
    return most;
  }

  #executions(): readonly Execution[] {
    return [...this.#runs.values(), ...this.#early];
  }

  #end(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#started();
    this.#watch?.cancel();
    this.#leaving?.cancel();
    const lost = this.#executions();
    this.#runs.clear();
    this.#early.length = 0;
    this.#options.onExit(this);
    for (const execution of lost) this.#lose(execution);
  }

  #lose(execution: Execution): void {
    const { id, failure } = this.#culprit ?? {};
    execution.lost(execution.id === id ? failure : undefined, this.#reason);
    this.#options.onFree(execution);
  }
}
