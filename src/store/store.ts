/**
 * The interface of the store: config objects with their history, operational records, the audit log. Specs,
 * values and bodies are any JSON; the store only looks for sealed texts in them. Times of objects and
 * revisions are ISO 8601, those of records and the audit log milliseconds since 1970.
 */
import type { Actor } from "../kernel/principal.ts";
import type { Revision } from "../kernel/revision.ts";
import type { LimitRows } from "./limits.ts";
import type { Placements } from "./placements.ts";
import type { Reads } from "./reads.ts";
import type { Replicas } from "./replicas.ts";
import type { Sums } from "./sum-rows.ts";
import type { Tries } from "./tries.ts";

export interface Store {
  /** The newest revision with its objects, read consistently. */
  load(): Promise<StoreSnapshot>;
  /** One transaction, one new revision. Rejects with "conflict" if `base` is not the newest. */
  commit(commit: Commit): Promise<Revision>;
  /** Newest first. */
  revisions(page?: RevisionPage): Promise<readonly Revision[]>;
  /** A revision with its objects. Undefined for an unknown number. */
  revision(n: number): Promise<PastRevision | undefined>;

  readonly records: Records;
  readonly audit: Audit;
  readonly sums: Sums;
  readonly sealer: Sealer;
  /** Undefined for an embedded store, which has one process. */
  readonly replicas: Replicas | undefined;
  /** Undefined for an embedded store. */
  readonly reads: Reads | undefined;
  readonly placements: Placements | undefined;
  /** The counts of limits over all replicas; undefined for an embedded store. */
  readonly limits: LimitRows | undefined;
  /** Undefined for an embedded store. */
  readonly tries: Tries | undefined;

  /**
   * When it resolves, listeners of `onChange` were told of everything that any process wrote before this
   * call.
   */
  catchUp(): Promise<void>;
  /** The newest version of a kind of records that was told to listeners; of the config for "". */
  versionOf(kind: string): number;

  /**
   * The time of the database, in milliseconds since 1970: the same at all processes, whatever their clocks
   * say.
   */
  now(): number;
  /** Whether other processes may use the store at the same time. */
  readonly shared: boolean;
  readonly state: StoreState;
  /** Runs at each change of `state`. Returns a function that unsubscribes. */
  onState(listener: (state: StoreState) => void): () => void;
  /** Runs for each change by any process, including this one. Returns a function that unsubscribes. */
  onChange(listener: (change: StoreChange) => void): () => void;
  close(): Promise<void>;
}

/** While the store is down, writes reject with "unavailable". */
export type StoreState = { readonly up: true } | { readonly up: false; readonly reason: string };

/** Says that something is newer than before. Several changes may be reported as one. */
export type StoreChange =
  | { readonly of: "config"; readonly revision: number }
  | { readonly of: "records"; readonly kind: string };

export interface NewObject {
  readonly kind: string;
  /** Never reused for another object. */
  readonly uuid: string;
  readonly name: string;
  /** The normalized name, e.g. NFC and lower case. Unique within a kind. */
  readonly nameKey: string;
  readonly spec: unknown;
  /** "api" or "file:NAME". */
  readonly managedBy: string;
  /** The file that managed it before the API took it over. */
  readonly takenFrom?: string;
}

export interface ObjectVersion extends NewObject {
  /** The revision that last changed it. */
  readonly revision: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface StoreSnapshot {
  /** 0 before the first commit. */
  readonly revision: number;
  /** Oldest first. */
  readonly objects: readonly ObjectVersion[];
}

export interface Commit {
  /** The revision that the change is based on. */
  readonly base: number;
  /** New or changed objects. One with the uuid of a current object replaces it. */
  readonly put: readonly NewObject[];
  /** Uuids. */
  readonly remove: readonly string[];
  readonly who: Actor;
  readonly summary: string;
  /**
   * When the change was made, so that its objects have the same times before and after they are loaded.
   * Default: now.
   */
  readonly at?: string;
}

export interface PastRevision extends Revision {
  readonly objects: readonly ObjectVersion[];
}

export interface RevisionPage {
  /** Only revisions below this number. */
  readonly before?: number;
  readonly limit?: number;
}

/** Operational records: keys, accounts, grants. Expired records are treated as deleted. */
export interface Records {
  get(kind: string, id: string): Promise<StoredRecord | undefined>;
  /** By its unique key. */
  find(kind: string, key: string): Promise<StoredRecord | undefined>;
  /** Sorted by id, in byte order. */
  list(kind: string, page?: RecordPage): Promise<readonly StoredRecord[]>;
  put(record: NewRecord): Promise<StoredRecord>;
  /** Returns whether the record existed. Of several concurrent deletes only one returns true. */
  delete(kind: string, id: string): Promise<boolean>;
  /**
   * All or nothing. Rejects with "conflict" if a version differs, and with "taken" if another record has the
   * key.
   */
  write(changes: readonly RecordChange[]): Promise<void>;
}

export interface NewRecord {
  readonly kind: string;
  readonly id: string;
  readonly value: unknown;
  /** Unique within the kind. */
  readonly key?: string;
  readonly expiresAt?: number;
  /** Writes only if this is the current version; 0 means only if the record does not exist. */
  readonly ifVersion?: number;
}

export type RecordChange =
  | { readonly put: NewRecord }
  | { readonly delete: { readonly kind: string; readonly id: string; readonly ifVersion?: number } };

export interface StoredRecord {
  readonly kind: string;
  readonly id: string;
  readonly value: unknown;
  readonly key?: string;
  readonly expiresAt?: number;
  /** Increases with every write and is never reused within a kind. */
  readonly version: number;
}

export interface RecordPage {
  /** Only ids greater than this one. */
  readonly after?: string;
  /** Only records written after this version of the kind. Deletions since then are not visible. */
  readonly since?: number;
  readonly limit?: number;
}

export interface Audit {
  /**
   * Writes all of them or none; at most `AUDIT_BATCH` records. After "unavailable" repeat the call with the
   * same array, so that records that did arrive are not written twice.
   */
  append(records: readonly AuditRecord[]): Promise<AppendedRecords>;
  /** Newest first. */
  query(query?: AuditQuery): Promise<AuditPage>;
  /**
   * Deletes batches whose records are all older than `before`, oldest first. The newest batch always stays.
   * Returns the number of deleted records. The rest can still be verified.
   */
  prune(before: number): Promise<number>;
  verify(): Promise<AuditVerdict>;
}

export const AUDIT_BATCH = 500;

export interface AuditRecord {
  readonly at: number;
  /** The members that the JSON begins with, if many records share them. A batch stores them once. */
  readonly head?: string;
  /**
   * JSON on one line, or the rest after `head`. A text, because it is stored unchanged and many records may
   * wait in memory.
   */
  readonly body: string;
}

export interface AppendedRecords {
  /** The number of the first record. */
  readonly first: number;
  /** The hash of each record. */
  readonly hashes: () => readonly string[];
  /** How many statements it took. More than one if other gateways write at the same time. */
  readonly statements: number;
}

export interface StoredAuditRecord {
  readonly seq: number;
  readonly at: number;
  readonly body: unknown;
  readonly hash: string;
}

export interface AuditQuery {
  /** Members of the body by path, such as `endpoint.name`, with the text that each must equal. */
  readonly members?: Readonly<Record<string, string>>;
  /** The same, with a text that each must contain. Upper and lower case are the same. */
  readonly containing?: Readonly<Record<string, string>>;
  /** Inclusive. */
  readonly from?: number;
  /** Exclusive. */
  readonly to?: number;
  /** Only records with a greater number. */
  readonly after?: number;
  readonly limit?: number;
  readonly cursor?: number;
}

export interface AuditPage {
  readonly items: readonly StoredAuditRecord[];
  /** Given where there may be more. */
  readonly nextCursor?: number;
}

export type AuditVerdict =
  /**
   * `lost`: how many records the log itself says were lost before they could be written. `unfinished`: how
   * many calls began without an outcome, because they still run or the gateway ended while they ran.
   */
  | { readonly ok: true; readonly count: number; readonly lost?: number; readonly unfinished?: number }
  | { readonly ok: false; readonly seq: number; readonly reason: string };

export interface Sealer {
  /** Identifies the key without revealing it. */
  readonly keyId: string;
  seal(text: string): string;
  /** Throws "key_wrong" for text that this key did not seal. */
  open(sealed: string): string;
  /** 32 bytes. The same in every process on this store, also after a change of the secret key. */
  derive(purpose: string): Buffer;
}
