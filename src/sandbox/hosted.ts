/**
 * Executor with host processes: long-lived ones that several runs share, or one per run. Starts no process
 * before the first run.
 */

import { availableParallelism } from "node:os";
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { Sequencer } from "../kernel/sequencer.ts";
import { type Backend, Execution } from "./execution.ts";
import type { CodeRun, Executor, Outcome } from "./executor.ts";
import { HostProcess, type Launch } from "./host-process.ts";
import { limitFailure } from "./limit-failure.ts";
import { RunQueue } from "./run-queue.ts";

export interface HostedOptions {
  readonly backend: Backend;
  /** The command that starts a host. `id` is different each time. */
  readonly launch: (id: number) => Launch | Promise<Launch>;
  readonly clock: Clock;
  readonly log: Log;
  /** Start one host for each run, and end it with the run. */
  readonly perRun?: boolean;
  readonly maxHosts?: number;
  /** A host is replaced after this number of runs. */
  readonly maxServed?: number;
}

/** An idle host uses memory too. */
const MAX_HOSTS = Math.max(2, Math.min(availableParallelism(), 4));
/** Engines that a host prepares in advance. */
const SPARE = 4;
const MAX_SERVED = 500;
const IDLE_MS = 300_000;
/** With more runs in one host they would delay each other. */
const MAX_RUNS_PER_HOST = 100;
/** From this number of runs in one host on, another host is worth its memory. */
const CROWDED = 50;
/** Limit of runs, and so of processes, with one host per run. */
const MAX_SINGLE_RUN_HOSTS = 16;

export class HostedExecutor implements Executor {
  readonly #options: HostedOptions;
  readonly #hosts = new Set<HostProcess>();
  #lastId = 0;
  #closed = false;
  #idle: Timer | undefined;
  /** Hosts are started one at a time. */
  readonly #launches = new Sequencer();
  readonly #queue: RunQueue;
  readonly #maxServed: number;
  readonly #usualHosts: number;
  /** Limit for principals without a host, while all usual hosts are busy. */
  readonly #maxHosts: number;

  constructor(options: HostedOptions) {
    this.#options = options;
    this.#maxServed = options.maxServed ?? MAX_SERVED;
    this.#usualHosts = options.maxHosts ?? MAX_HOSTS;
    this.#maxHosts = options.maxHosts ?? 2 * MAX_HOSTS;
    const runs = options.perRun ? MAX_SINGLE_RUN_HOSTS : this.#maxHosts * MAX_RUNS_PER_HOST;
    const limits = { runs, perPrincipal: runs / 2 };
    this.#queue = new RunQueue(limits, options.clock, (execution) => void this.#start(execution));
  }

  /** The process ids of all hosts, for tests and benchmarks. */
  get pids(): readonly number[] {
    return [...this.#hosts].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  async run(run: CodeRun): Promise<Outcome> {
    const { backend, clock } = this.#options;
    const execution = new Execution(++this.#lastId, run, backend, clock);
    const { codeBytes } = run.limits;
    if (this.#closed) execution.end({ code: "sandbox_terminated", message: "MetaMCP is stopping." });
    else if (run.signal.aborted) execution.end({ code: "cancelled", message: "The run was cancelled." });
    else if (Buffer.byteLength(run.code) > codeBytes) execution.end(limitFailure("codeBytes", codeBytes));
    else this.#queue.add(execution);
    return await execution.outcome;
  }

  async #start(execution: Execution): Promise<void> {
    const host = this.#choose(execution.run.principal);
    if (host) return this.#assign(execution, host);
    try {
      await this.#launches.run(async () => {
        // The host that was started before this turn may have room.
        const other = this.#choose(execution.run.principal);
        if (other) this.#assign(execution, other);
        else await this.#spawn(execution);
      });
    } catch (error) {
      const message = `No sandbox could be started: ${(error as Error).message}`;
      execution.end({ code: "internal", message });
      this.#queue.release(execution);
    }
  }

  #assign(execution: Execution, host: HostProcess): void {
    host.take(execution);
    if (this.#options.perRun) return host.retire();
    if (host.served === this.#maxServed) void this.#replace(host);
    this.#watchIdle();
  }

  /** Starts the successor first, so that no run has to wait for it. */
  async #replace(host: HostProcess): Promise<void> {
    await this.#launches
      .run(() => this.#spawn())
      .then(({ started }) => started)
      .catch(() => {});
    host.retire();
  }

  /**
   * Prefers a host that is not busy, then one without runs of other principals, then the one with the fewest
   * runs. Undefined if a new host should start.
   */
  #choose(principal: string): HostProcess | undefined {
    if (this.#options.perRun) return undefined;
    const hosts = [...this.#hosts].filter((host) => !host.retiring);
    const cost = (host: HostProcess): number =>
      (host.busy ? 1e6 : 0) + (host.sharedWithOthers(principal) ? 1e3 : 0) + host.load;
    const [best] = hosts.filter(({ load }) => load < MAX_RUNS_PER_HOST).sort((a, b) => cost(a) - cost(b));
    if (!best || this.#worthAnother(best, hosts, principal)) return undefined;
    return best;
  }

  /** Another host is worth its memory if the best one is busy, crowded, or used by another principal. */
  #worthAnother(best: HostProcess, hosts: readonly HostProcess[], principal: string): boolean {
    if (hosts.length < this.#usualHosts)
      return best.busy || best.sharedWithOthers(principal) || best.load >= CROWDED;
    // A principal that already has runs may be the one that keeps the hosts busy, so it gets no extra host.
    return best.busy && hosts.length < this.#maxHosts && !hosts.some((host) => host.hasRunsOf(principal));
  }

  async #spawn(first?: Execution): Promise<HostProcess> {
    const { clock, log, launch, perRun } = this.#options;
    const host = new HostProcess({
      launch: await launch(++this.#lastId),
      clock,
      log,
      spare: perRun ? 1 : SPARE,
      onExit: (gone) => this.#hosts.delete(gone),
      onFree: (execution) => this.#queue.release(execution),
    });
    if (this.#closed) host.killNow();
    else this.#hosts.add(host);
    // Without an await in between: a run of another principal would find the host empty and share it.
    if (first) this.#assign(first, host);
    return host;
  }

  #watchIdle(): void {
    this.#idle?.cancel();
    this.#idle = this.#options.clock.after(IDLE_MS, () => {
      if ([...this.#hosts].every(({ load }) => load === 0)) for (const host of this.#hosts) host.retire();
      else this.#watchIdle();
    });
  }

  async close(): Promise<void> {
    this.killNow();
    await this.#launches.run(() => {});
    await Promise.all([...this.#hosts].map(({ exited }) => exited));
  }

  killNow(): void {
    this.#closed = true;
    this.#idle?.cancel();
    for (const host of this.#hosts) host.killNow();
  }
}
