/** The tasks of all clients. Only the owner can find a task. Limited in number, bytes and time. */
import { randomBytes } from "node:crypto";
import { type Origin, ownerOf } from "../../kernel/call.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import { type Principal, shareOf } from "../../kernel/principal.ts";
import type { NamedByReplica, Peers, ReplicaIds } from "../../kernel/replica-ids.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { INTERNAL_ERROR, RpcError } from "../../rpc/rpc-error.ts";
import { limitedTtl, Task } from "./task.ts";

export interface TasksParts {
  readonly clock: Clock;
  /** Makes the ids, so that a client can neither guess nor alter one. */
  readonly ids: ReplicaIds;
  readonly peers?: Peers | undefined;
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
const GONE = RpcError.of(
  INTERNAL_ERROR,
  "The replica of the gateway that ran this task is gone. The call may have run.",
);

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
    const { clock, ids, time } = this.#parts;
    const owner = ownerOf(origin);
    this.#makeRoom(shareOf(origin.principal));
    const name = nameOf(time(), limitedTtl(ttl));
    const task = new Task({
      id: ids.make(name, owner),
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

  /**
   * Returns undefined for an unknown task and for a task of another owner, so that a client cannot tell
   * which.
   */
  find(origin: Origin, id: string): Task | undefined {
    const owner = ownerOf(origin);
    const named = this.#parts.ids.open(id, owner);
    if (named?.elsewhere !== undefined) return this.#lost(named, id, origin);
    const entry = named && this.#entries.get(named.name);
    return entry?.owner === owner ? entry.task : undefined;
  }

  /** The task of a replica that is gone has failed, until its time is over. */
  #lost({ name, elsewhere = "" }: NamedByReplica, id: string, origin: Origin): Task | undefined {
    const { peers, time } = this.#parts;
    const { createdAt, ttl } = factsIn(name);
    if (!peers?.isGone(elsewhere) || Date.parse(createdAt) + ttl < Date.parse(time())) return undefined;
    const task = new Task({
      id,
      origin,
      signal: new CallSignal(),
      ttl,
      time: () => createdAt,
      onChange: () => {},
    });
    task.end({ error: GONE });
    return task;
  }

  /** The replica that has this task of the client, if it is another one. */
  replicaOf(origin: Origin, id: string): string | undefined {
    return this.#parts.ids.open(id, ownerOf(origin))?.elsewhere;
  }

  /**
   * The tasks of a client, oldest first. Empty for clients that cannot be told apart: for them only the id
   * gives access.
   */
  of(origin: Origin): readonly Task[] {
    return origin.unlisted ? [] : this.ofOwner(ownerOf(origin));
  }

  /** Those that this process has. */
  ofOwner(owner: string): readonly Task[] {
    return [...this.#entries.values()].filter((entry) => entry.owner === owner).map(({ task }) => task);
  }

  /** The tasks of a client at other processes, each as the JSON text of its state. */
  async elsewhere(origin: Origin): Promise<readonly string[]> {
    return origin.unlisted ? [] : ((await this.#parts.peers?.tasksOf(ownerOf(origin))) ?? []);
  }

  /** Removes a task that the client never got. */
  drop(task: Task): void {
    for (const [name, entry] of this.#entries) if (entry.task === task) this.#entries.delete(name);
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

  #makeRoom(share: string): void {
    const own = [...this.#entries].filter(([, { task }]) => shareOf(task.origin.principal) === share);
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

/** A random text, and what is still true of the task when its process is gone. */
function nameOf(createdAt: string, ttl: number): string {
  return `${randomBytes(16).toString("base64url")} ${createdAt} ${ttl}`;
}

function factsIn(name: string): { readonly createdAt: string; readonly ttl: number } {
  const [, createdAt = "", ttl] = name.split(" ");
  return { createdAt, ttl: Number(ttl) };
}
