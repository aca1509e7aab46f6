/** The backends made of hosts: long-lived ones that several runs share, or one for each run. Spawns nothing before the first run. */
import { availableParallelism } from "node:os";
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { type Backend, Execution } from "./execution.ts";
import type { CodeRun, Executor, Outcome } from "./executor.ts";
import { HostProcess, type Launch } from "./host-process.ts";
import { limitFailure } from "./limit-failure.ts";
import { RunQueue } from "./run-queue.ts";

export interface HostedOptions {
  readonly backend: Backend;
  /** How a host is started; `id` is new each time. */
  readonly launch: (id: number) => Launch | Promise<Launch>;
  readonly clock: Clock;
  readonly log: Log;
  /** One host for each run, which ends with it. */
  readonly perRun?: boolean;
  readonly mostHosts?: number;
}

/** Each costs memory even when it does nothing. */
const MOST_HOSTS = Math.max(2, Math.min(availableParallelism(), 4));
/** Instances that a host keeps waiting. */
const SPARE = 4;
const MOST_SERVED = 500;
const IDLE_MS = 300_000;
/** More at once would keep each other waiting. */
const MOST_SHARING = 100;
/** So many share one before another is worth its memory. */
const CROWDED = 50;
/** A host per run is a process per run. */
const MOST_ALONE = 16;

export class HostedExecutor implements Executor {
  readonly #options: HostedOptions;
  readonly #hosts = new Set<HostProcess>();
  #lastId = 0;
  #closed = false;
  #idle: Timer | undefined;
  #launch: Promise<unknown> = Promise.resolve();
  readonly #waiting: RunQueue;
  readonly #usualHosts: number;
  /** Where all of the usual ones are kept busy or full, strangers to them get others. */
  readonly #mostHosts: number;

  constructor(options: HostedOptions) {
    this.#options = options;
    this.#usualHosts = options.mostHosts ?? MOST_HOSTS;
    this.#mostHosts = options.mostHosts ?? 2 * MOST_HOSTS;
    const seats = options.perRun ? MOST_ALONE : this.#mostHosts * MOST_SHARING;
    const room = { seats, each: seats / 2 };
    this.#waiting = new RunQueue(room, options.clock, (execution) => void this.#place(execution));
  }

  /** For tests and benchmarks: the processes there are. */
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
    else this.#waiting.arrive(execution);
    return await execution.outcome;
  }

  async #place(execution: Execution): Promise<void> {
    const host = this.#choose(execution.run.principal);
    if (host) return this.#assign(execution, host);
    try {
      await this.#inTurn(async () => {
        // The host that was started before this turn may have room.
        const other = this.#choose(execution.run.principal);
        if (other) this.#assign(execution, other);
        else await this.#spawn(execution);
      });
    } catch (error) {
      const message = `No sandbox could be started: ${(error as Error).message}`;
      execution.end({ code: "internal", message });
      this.#waiting.left(execution);
    }
  }

  #assign(execution: Execution, host: HostProcess): void {
    host.take(execution);
    if (this.#options.perRun) return host.retire();
    if (host.served === MOST_SERVED) void this.#replace(host);
    this.#whenIdle();
  }

  /** Starts the successor first, so that no run has to wait for it. */
  async #replace(host: HostProcess): Promise<void> {
    await this.#inTurn(() => this.#spawn())
      .then(({ started }) => started)
      .catch(() => {});
    host.retire();
  }

  /** Where no stranger is, then where there is least to do. Nobody is sent to a host that somebody keeps busy while there is another way. */
  #choose(principal: string): HostProcess | undefined {
    if (this.#options.perRun) return undefined;
    const hosts = [...this.#hosts].filter((host) => !host.retiring);
    const cost = (host: HostProcess): number =>
      (host.busy ? 1e6 : 0) + (host.sharedWithOthers(principal) ? 1e3 : 0) + host.load;
    const [best] = hosts.filter(({ load }) => load < MOST_SHARING).sort((a, b) => cost(a) - cost(b));
    if (!best || this.#worthAnother(best, hosts, principal)) return undefined;
    return best;
  }

  /** A second host is worth its memory for strangers, and where one is at its limit. */
  #worthAnother(best: HostProcess, hosts: readonly HostProcess[], principal: string): boolean {
    if (hosts.length < this.#usualHosts)
      return best.busy || best.sharedWithOthers(principal) || best.load >= CROWDED;
    // Who keeps them busy has no claim to more.
    return best.busy && hosts.length < this.#mostHosts && !hosts.some((host) => host.holds(principal));
  }

  /** Hosts are started one at a time. */
  async #inTurn<T>(start: () => Promise<T>): Promise<T> {
    const started = this.#launch.then(start);
    this.#launch = started.catch(() => {});
    return await started;
  }

  async #spawn(first?: Execution): Promise<HostProcess> {
    const { clock, log, launch, perRun } = this.#options;
    const host = new HostProcess({
      launch: await launch(++this.#lastId),
      clock,
      log,
      spare: perRun ? 1 : SPARE,
      onExit: (gone) => this.#hosts.delete(gone),
      onFree: (execution) => this.#waiting.left(execution),
    });
    if (this.#closed) host.killNow();
    else this.#hosts.add(host);
    // Without an await in between: a run of another principal would find the host empty and share it.
    if (first) this.#assign(first, host);
    return host;
  }

  #whenIdle(): void {
    this.#idle?.cancel();
    this.#idle = this.#options.clock.after(IDLE_MS, () => {
      if ([...this.#hosts].every(({ load }) => load === 0)) for (const host of this.#hosts) host.retire();
      else this.#whenIdle();
    });
  }

  async close(): Promise<void> {
    this.killNow();
    await this.#launch;
    await Promise.all([...this.#hosts].map(({ exited }) => exited));
  }

  killNow(): void {
    this.#closed = true;
    this.#idle?.cancel();
    for (const host of this.#hosts) host.killNow();
  }
}
