/**
 * Ids that clients carry for what one process keeps: parked calls, tasks. They are sealed with keys of the
 * store, so every replica can open an id and see which replica has what it names.
 */
import { randomBytes } from "node:crypto";
import { type KeySource, Seal } from "./seal.ts";

/** What the sealed ids are for. An id for one purpose does not open for another. */
export const REQUEST_STATES = "request states";
export const TASK_IDS = "tasks";

/** The other processes on the store. */
export interface Peers {
  /** The replica is dead or has stopped: what it kept is lost. */
  isGone(replica: string): boolean;
  /** The tasks of an owner at all others, each as the JSON text of its state. */
  tasksOf(owner: string): Promise<readonly string[]>;
  /** The servers whose pages a caller used at all others. */
  pagesOf(caller: string): Promise<readonly string[] | undefined>;
}

/** Whose ids they are. */
export interface IdSource extends KeySource {
  /**
   * The id of this replica: letters and digits, other at each start. Undefined if no other process serves the
   * same clients.
   */
  readonly replica?: string | undefined;
  readonly peers?: Peers | undefined;
}

/** An id for this start of the process. Never made from the machine or the pid: containers share both. */
export function newReplicaId(): string {
  return randomBytes(4).toString("hex");
}

export interface NamedByReplica {
  readonly name: string;
  /** The replica that made the id, if it is another one. */
  readonly elsewhere?: string;
}

export class ReplicaIds {
  readonly #seal: Seal;
  readonly #replica: string;

  constructor(source: IdSource, purpose: string) {
    this.#seal = new Seal(source, purpose);
    this.#replica = source.replica ?? "";
  }

  /** Returns an id that opens only for the same `reader`. */
  make(name: string, reader: string): string {
    return this.#seal.close(`${this.#replica} ${name}`, reader);
  }

  /** Returns undefined if the id is foreign, was changed, or is for another reader. */
  open(id: string, reader: string): NamedByReplica | undefined {
    const text = this.#seal.open(id, reader);
    if (text === undefined) return undefined;
    const end = text.indexOf(" ");
    const [replica, name] = [text.slice(0, end), text.slice(end + 1)];
    return replica === this.#replica ? { name } : { name, elsewhere: replica };
  }
}

/** An id for people, in plain text: `REPLICA-NAME`, or only the name if the process is alone. */
export function plainId(name: string, replica: string | undefined): string {
  return replica === undefined ? name : `${replica}-${name}`;
}

/**
 * Returns undefined if the id names no replica although it should. Whether the other replica has such a thing
 * is not known.
 */
export function readPlainId(id: string, replica: string | undefined): NamedByReplica | undefined {
  if (replica === undefined) return { name: id };
  const [, named, name] = /^([a-z0-9]+)-(.+)$/.exec(id) ?? [];
  if (named === undefined || name === undefined) return undefined;
  return named === replica ? { name } : { name, elsewhere: named };
}

/** Why something with an id of another replica cannot be had. */
export function atReplica(what: string, replica: string): string {
  return `${what} is at replica ${replica} of the gateway, which cannot be reached from here`;
}
