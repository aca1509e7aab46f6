/** The tasks of all clients. Only the owner can find a task. Limited in number, bytes and time. */
import { randomBytes } from "node:crypto";
import { callerOf, type Origin } from "../../kernel/call.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import { holderKey, type Principal } from "../../kernel/principal.ts";
import type { Seal } from "../../kernel/seal.ts";
import type { CallSignal } from "../../kernel/signal.ts";
import { INTERNAL_ERROR, RpcError } from "../../rpc/rpc-error.ts";
import { Task } from "./task.ts";

export interface TasksParts {
  readonly clock: Clock;
  /** Makes the ids, so that a client can neither guess nor alter one. */
  readonly seal: Seal;
  /** The current time in ISO 8601. */
  readonly time: () => string;
}

export interface TaskLimits {
  readonly perOwner: number;
  readonly total: number;
  readonly bytes: number;
}

const LIMITS: TaskLimits = { perOwner: 256, total: 4_096, bytes: 256 * 1024 * 1024 };
const SWEEP_MS = 10_000;

interface Entry {
  readonly task: Task;
  readonly owner: string;
  readonly since: number;
}

export type OnTask = (task: Task) => void;

export class Tasks {
  readonly #parts: TasksParts;
  readonly #limits: TaskLimits;
  /** Oldest first, keyed by an internal name. Clients get only the sealed name as the id. */
  readonly #entries = new Map<string, Entry>();
  #sweepTimer: Timer | undefined;

  constructor(parts: TasksParts, limits: TaskLimits = LIMITS) {
    this.#parts = parts;
    this.#limits = limits;
  }

  /** Throws RpcError if too many tasks are running. */
  begin(
    origin: Origin,
    { signal, ttl, onChange }: { signal: CallSignal; ttl: number | undefined; onChange: OnTask },
  ): Task {
    const { clock, seal, time } = this.#parts;
    const owner = ownerOf(origin);
    this.#makeRoom(owner);
    const name = randomBytes(16).toString("base64url");
    const task = new Task({
      id: seal.close(name, owner),
      origin,
      signal,
      ttl,
      time,
      onChange: (changed) => {
        if (changed.outcome) this.#limitBytes();
        onChange(changed);
      },
    });
    this.#entries.set(name, { task, owner, since: clock.now() });
    this.#sweepTimer ??= clock.after(SWEEP_MS, () => this.#sweep());
    return task;
  }

  /** Returns undefined for an unknown task and for a task of another owner, so that a client cannot tell which. */
  find(origin: Origin, id: string): Task | undefined {
    const owner = ownerOf(origin);
    const name = this.#parts.seal.open(id, owner);
    const entry = name === undefined ? undefined : this.#entries.get(name);
    return entry?.owner === owner ? entry.task : undefined;
  }

  /** Removes a task that the client never got. */
  drop(task: Task): void {
    for (const [name, entry] of this.#entries) if (entry.task === task) this.#entries.delete(name);
  }

  /**
   * The tasks of a client, oldest first. Empty for clients that cannot be told apart: for them only the id gives
   * access.
   */
  of(origin: Origin): readonly Task[] {
    if (origin.unlisted) return [];
    const owner = ownerOf(origin);
    return [...this.#entries.values()].filter((entry) => entry.owner === owner).map(({ task }) => task);
  }

  /** Cancels the tasks of a session that has ended. */
  forget(session: string): void {
    for (const [name, { owner }] of this.#entries)
      if (owner === session) this.#end(name, "its client is gone");
  }

  /** Cancels the tasks that these principals started at this endpoint. */
  endAt(endpoint: string, whose: (principal: Principal) => boolean): void {
    for (const [name, { task }] of this.#entries) {
      const { origin } = task;
      if (origin.endpoint === endpoint && whose(origin.principal))
        this.#end(name, "its caller no longer has access");
    }
  }

  close(): void {
    this.#sweepTimer?.cancel();
    for (const name of this.#entries.keys()) this.#end(name, "MetaMCP is stopping");
  }

  #makeRoom(owner: string): void {
    const own = [...this.#entries].filter(([, entry]) => entry.owner === owner);
    if (own.length >= this.#limits.perOwner) this.#dropOldestEnded(own);
    else if (this.#entries.size >= this.#limits.total) this.#dropOldestEnded([...this.#entries]);
  }

  #dropOldestEnded(entries: readonly (readonly [string, Entry])[]): void {
    const ended = entries.find(([, { task }]) => task.outcome);
    if (!ended) throw RpcError.of(INTERNAL_ERROR, "Too many tasks are running: wait for one or cancel one");
    this.#entries.delete(ended[0]);
  }

  /** Removes the oldest results until the rest is within the limit. */
  #limitBytes(): void {
    let bytes = 0;
    for (const { task } of this.#entries.values()) bytes += task.bytes;
    for (const [name, { task }] of this.#entries) {
      if (bytes <= this.#limits.bytes) return;
      bytes -= task.bytes;
      if (task.outcome) this.#entries.delete(name);
    }
  }

  #sweep(): void {
    const now = this.#parts.clock.now();
    for (const [name, { task, since }] of this.#entries)
      if (now - since > task.ttl) this.#end(name, "it ran longer than its ttl");
    this.#sweepTimer = undefined;
    if (this.#entries.size > 0) this.#sweepTimer = this.#parts.clock.after(SWEEP_MS, () => this.#sweep());
  }

  #end(name: string, reason: string): void {
    const entry = this.#entries.get(name);
    this.#entries.delete(name);
    entry?.task.cancel(reason);
  }
}

/** A known principal may fetch its tasks in another session. An anonymous client owns tasks only by its session. */
function ownerOf(origin: Origin): string {
  const { endpoint, principal } = origin;
  return principal.kind === "anonymous" ? callerOf(origin) : JSON.stringify([endpoint, holderKey(principal)]);
}
