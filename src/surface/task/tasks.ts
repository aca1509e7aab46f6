/** The tasks of all clients, each to be found by who it belongs to and nobody else. Bounded in number, in bytes and in time. */
import { randomBytes } from "node:crypto";
import { callerOf, type Origin } from "../../kernel/call.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import { holderKey, isMeant, type Principal } from "../../kernel/principal.ts";
import type { Seal } from "../../kernel/seal.ts";
import type { CallSignal } from "../../kernel/signal.ts";
import { INTERNAL_ERROR, RpcError } from "../../rpc/rpc-error.ts";
import { Task } from "./task.ts";

export interface TasksParts {
  readonly clock: Clock;
  /** Makes the ids: who is given one can neither guess nor change another. */
  readonly seal: Seal;
  /** The time of day, as ISO 8601 writes it. */
  readonly time: () => string;
}

export interface TaskLimits {
  readonly each: number;
  readonly all: number;
  readonly bytes: number;
}

const LIMITS: TaskLimits = { each: 256, all: 4_096, bytes: 256 * 1024 * 1024 };
const SWEEP_MS = 10_000;

interface Held {
  readonly task: Task;
  readonly owner: string;
  readonly since: number;
}

export type OnTask = (task: Task) => void;

export class Tasks {
  readonly #parts: TasksParts;
  readonly #limits: TaskLimits;
  /** Oldest first, by a name that never leaves here unsealed. */
  readonly #held = new Map<string, Held>();
  #sweep: Timer | undefined;

  constructor(parts: TasksParts, limits: TaskLimits = LIMITS) {
    this.#parts = parts;
    this.#limits = limits;
  }

  /** Throws RpcError where there are too many that still run. */
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
        if (changed.outcome) this.#bound();
        onChange(changed);
      },
    });
    this.#held.set(name, { task, owner, since: clock.now() });
    this.#sweep ??= clock.after(SWEEP_MS, () => this.#sweepUp());
    return task;
  }

  /** Undefined for what is not known here, and for what belongs to another: nobody can tell which. */
  find(origin: Origin, id: string): Task | undefined {
    const owner = ownerOf(origin);
    const name = this.#parts.seal.open(id, owner);
    const held = name === undefined ? undefined : this.#held.get(name);
    return held?.owner === owner ? held.task : undefined;
  }

  /** It never came to be. */
  drop(task: Task): void {
    for (const [name, held] of this.#held) if (held.task === task) this.#held.delete(name);
  }

  /** Oldest first. Who cannot be told from others sees none: an id is all that proves whose a task is. */
  of(origin: Origin): readonly Task[] {
    if (origin.unlisted) return [];
    const owner = ownerOf(origin);
    return [...this.#held.values()].filter((held) => held.owner === owner).map(({ task }) => task);
  }

  /** Nobody can come back for what belonged to this session. */
  forget(session: string): void {
    for (const [name, { owner }] of this.#held) if (owner === session) this.#end(name, "its client is gone");
  }

  /** Nothing that was begun at this endpoint goes on: of this principal, or of anybody where none is named. */
  endAt(endpoint: string, meant?: Principal): void {
    for (const [name, { task }] of this.#held) {
      const { origin } = task;
      if (origin.endpoint === endpoint && (!meant || isMeant(meant, origin.principal)))
        this.#end(name, "its caller no longer has access");
    }
  }

  close(): void {
    this.#sweep?.cancel();
    for (const name of this.#held.keys()) this.#end(name, "MetaMCP is stopping");
  }

  #makeRoom(owner: string): void {
    const own = [...this.#held].filter(([, held]) => held.owner === owner);
    if (own.length >= this.#limits.each) this.#dropOldest(own);
    else if (this.#held.size >= this.#limits.all) this.#dropOldest([...this.#held]);
  }

  #dropOldest(held: readonly (readonly [string, Held])[]): void {
    const ended = held.find(([, { task }]) => task.outcome);
    if (!ended) throw RpcError.of(INTERNAL_ERROR, "Too many tasks are running: wait for one or cancel one");
    this.#held.delete(ended[0]);
  }

  /** Results that were kept for longest go first. */
  #bound(): void {
    let bytes = 0;
    for (const { task } of this.#held.values()) bytes += task.bytes;
    for (const [name, { task }] of this.#held) {
      if (bytes <= this.#limits.bytes) return;
      bytes -= task.bytes;
      if (task.outcome) this.#held.delete(name);
    }
  }

  #sweepUp(): void {
    const now = this.#parts.clock.now();
    for (const [name, { task, since }] of this.#held)
      if (now - since > task.ttl) this.#end(name, "it ran longer than its ttl");
    this.#sweep = undefined;
    if (this.#held.size > 0) this.#sweep = this.#parts.clock.after(SWEEP_MS, () => this.#sweepUp());
  }

  #end(name: string, reason: string): void {
    const held = this.#held.get(name);
    this.#held.delete(name);
    held?.task.cancel(reason);
  }
}

/** A principal that is known may come back in another session: that is what tasks are for. Of a stranger only the session is known. */
function ownerOf(origin: Origin): string {
  const { endpoint, principal } = origin;
  return principal.kind === "anonymous" ? callerOf(origin) : JSON.stringify([endpoint, holderKey(principal)]);
}
