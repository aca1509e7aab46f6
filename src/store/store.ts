/**
 * What the gateway keeps: config objects with their history, operational records, the audit log. Specs, values and
 * bodies are any JSON: the store only looks for what is sealed in them. Times of objects and revisions are ISO 8601,
 * those of records and the audit log milliseconds since 1970.
 */

export interface Store {
  /** The newest revision with all objects right after it: one consistent view. */
  load(): Promise<StoreSnapshot>;
  /** One transaction, one new revision. Rejects with "conflict" if `base` is not the newest. */
  commit(commit: Commit): Promise<Revision>;
  /** Newest first. */
  revisions(page?: RevisionPage): Promise<readonly Revision[]>;
  /** A revision with all objects right after it; undefined if there is none of that number. */
  revision(n: number): Promise<PastRevision | undefined>;

  readonly records: Records;
  readonly audit: Audit;
  readonly sealer: Sealer;

  /** Other processes may use it at the same time. */
  readonly shared: boolean;
  readonly state: StoreState;
  /** Runs at each change of `state`. Returns what ends it. */
  onState(listener: (state: StoreState) => void): () => void;
  /** Runs for each change, whoever made it, this process included. Returns what ends it. */
  onChange(listener: (change: StoreChange) => void): () => void;
  close(): Promise<void>;
}

/** Where writes are refused: they reject with "unavailable" until the store is up again. */
export type StoreState = { readonly up: true } | { readonly up: false; readonly reason: string };

/** A level, not an edge: several changes in a row may be told as one. */
export type StoreChange =
  | { readonly of: "config"; readonly revision: number }
  | { readonly of: "records"; readonly kind: string };

export interface NewObject {
  readonly kind: string;
  /** Never used again for another object. */
  readonly uuid: string;
  readonly name: string;
  /** What makes names equal, e.g. NFC and lower case. Unique within a kind. */
  readonly nameKey: string;
  readonly spec: unknown;
  /** "api" or "file:NAME". */
  readonly managedBy: string;
  /** The file that managed it before, if someone took it over. */
  readonly takenFrom?: string;
}

export interface ObjectVersion extends NewObject {
  /** The one that last changed it. */
  readonly revision: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface StoreSnapshot {
  /** 0 before the first commit. */
  readonly revision: number;
  /** In the order in which they were made. */
  readonly objects: readonly ObjectVersion[];
}

export interface Who {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
}

export interface Commit {
  /** The revision this was made from. */
  readonly base: number;
  /** New or changed; an object with the uuid of a current one takes its place. */
  readonly put: readonly NewObject[];
  /** Uuids. */
  readonly remove: readonly string[];
  readonly who: Who;
  readonly summary: string;
}

export interface Revision {
  readonly n: number;
  readonly at: string;
  readonly who: Who;
  readonly summary: string;
}

export interface PastRevision extends Revision {
  readonly objects: readonly ObjectVersion[];
}

export interface RevisionPage {
  /** Only those below this number. */
  readonly before?: number;
  readonly limit?: number;
}

/** Rows of keys, accounts, grants and the like. What has expired is not there. */
export interface Records {
  get(kind: string, id: string): Promise<StoredRecord | undefined>;
  /** By its unique key. */
  find(kind: string, key: string): Promise<StoredRecord | undefined>;
  /** By id, in the order of bytes. */
  list(kind: string, page?: RecordPage): Promise<readonly StoredRecord[]>;
  put(record: NewRecord): Promise<StoredRecord>;
  /** Whether it was there. Of several who delete one record, one hears true. */
  delete(kind: string, id: string): Promise<boolean>;
  /** All or nothing. Rejects with "conflict" where a version does not agree, with "taken" where a key is another's. */
  write(changes: readonly RecordChange[]): Promise<void>;
}

export interface NewRecord {
  readonly kind: string;
  readonly id: string;
  readonly value: unknown;
  /** Unique within the kind. */
  readonly key?: string;
  readonly expiresAt?: number;
  /** Written only if this is its version now; 0: only if there is none. */
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
  /** Grows with every write and is never used twice within a kind. */
  readonly version: number;
}

export interface RecordPage {
  /** Only ids beyond this one. */
  readonly after?: string;
  /** Only what was written after this version of the kind. What was deleted since does not show. */
  readonly since?: number;
  readonly limit?: number;
}

export interface Audit {
  /**
   * Writes all of them or none; at most `AUDIT_BATCH` records. After "unavailable" give the same array again: records that
   * did arrive are then not written twice.
   */
  append(records: readonly AuditRecord[]): Promise<void>;
  /** Newest first. */
  query(query?: AuditQuery): Promise<AuditPage>;
  /** Removes batches whose records are all older than `before`, from the oldest on; the newest always stays. Returns how many records. The rest can still be verified. */
  prune(before: number): Promise<number>;
  verify(): Promise<AuditVerdict>;
}

export const AUDIT_BATCH = 500;

export interface AuditRecord {
  readonly at: number;
  /** The members that its JSON begins with, where many records begin with the same: a batch has them once. */
  readonly head?: string;
  /** JSON on one line, or the rest of it: it is kept as it was written, and many may have to wait in memory. */
  readonly body: string;
}

export interface StoredAuditRecord {
  readonly seq: number;
  readonly at: number;
  readonly body: unknown;
  readonly hash: string;
}

export interface AuditQuery {
  /** Members of the body by their path, as in `endpoint.name`, and the text that each must be. */
  readonly members?: Readonly<Record<string, string>>;
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
  | { readonly ok: true; readonly count: number }
  | { readonly ok: false; readonly seq: number; readonly reason: string };

export interface Sealer {
  /** Names the key, tells nothing of it. */
  readonly keyId: string;
  seal(text: string): string;
  /** Rejects with "key_wrong" what this key did not seal. */
  open(sealed: string): string;
  /** 32 bytes, the same in every process on this store and after a change of the secret key. */
  derive(purpose: string): Buffer;
}
