/**
 * One slot of the pool: the right to one connection, and which phase that connection is in. Decides nothing:
 * the pool listens.
 */
import type { Lifecycle } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";

/** A connection, as far as the pool knows it. */
export interface Pooled {
  readonly lifecycle: Lifecycle;
  /** For the log. */
  readonly label: string;
  /**
   * Ends the connection; resolves when nothing of it is left. The pool calls it at most once, possibly from
   * within `PoolSlot.idle()`, and also while the owner is ending the connection itself. The owner must not
   * use the connection afterwards.
   */
  end(reason: string): Promise<void>;
}

/**
 * What the owner of a connection holds. It counts from `acquire` until `free`, also while the connection is
 * opened or ended.
 */
export interface PoolSlot {
  /** The connection exists, and is busy. */
  occupy(connection: Pooled): void;
  /** The first request is sent on it. */
  busy(): void;
  /** The last request was answered. */
  idle(): void;
  /** The connect failed, or the connection has ended and nothing of it is left. Safe to call twice. */
  free(): void;
}

export interface SlotListener {
  onOccupied(): void;
  onIdle(slot: Slot): void;
  /** `from` is the phase before it. */
  onFree(slot: Slot, from: SlotPhase): void;
}

export type SlotPhase = "connecting" | "busy" | "idle" | "ending" | "free";

/** A slot as the pool sees it. */
export class Slot implements PoolSlot {
  phase: SlotPhase = "connecting";
  connection: Pooled | undefined;
  idleSince = 0;
  /** Counts up each time a slot of the pool becomes idle: the lowest has been idle for longest. */
  turn = 0;
  readonly #listener: SlotListener;

  constructor(listener: SlotListener) {
    this.#listener = listener;
  }

  /** Known once the connection exists. A config change may change it. */
  get lifecycle(): Lifecycle | undefined {
    return this.connection?.lifecycle;
  }

  occupy(connection: Pooled): void {
    if (this.phase !== "connecting") throw this.#misused("occupied");
    this.phase = "busy";
    this.connection = connection;
    this.#listener.onOccupied();
  }

  busy(): void {
    if (this.phase !== "idle" && this.phase !== "busy") throw this.#misused("used");
    this.phase = "busy";
  }

  idle(): void {
    if (this.phase !== "busy") return; // The last request of a connection that has ended meanwhile.
    this.phase = "idle";
    this.#listener.onIdle(this);
  }

  free(): void {
    const from = this.phase;
    this.phase = "free";
    this.#listener.onFree(this, from);
  }

  #misused(how: string): MetaMcpError {
    const label = this.connection?.label ?? "not yet connected";
    return new MetaMcpError("internal", `A place that is ${this.phase} (${label}) was ${how}.`);
  }
}
