/** The interface of both SQLite libraries. Synchronous, because both libraries are. */
import { StoreError } from "../error.ts";

export interface Statement {
  all(values: readonly unknown[]): readonly unknown[];
  /** Returns how many rows it changed. */
  run(values: readonly unknown[]): number;
}

export interface SqliteConnection {
  prepare(sql: string): Statement;
  /** Runs one statement without values or rows. */
  exec(sql: string): void;
  close(): void;
}

const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;
/** Violations of a unique index and of a primary key. */
const UNIQUE = [2067, 1555];
/** Read-only, I/O error, full disk, cannot open. */
const UNAVAILABLE = [BUSY, LOCKED, 8, 10, 13, 14];

/** Maps an error of either library to StoreError. Returns other errors unchanged. */
export function sqliteFault(error: unknown): unknown {
  const code = numberOf(error);
  if (code === undefined) return error;
  const message = (error as Error).message;
  if (UNIQUE.includes(code)) return new StoreError("taken", undefined, error);
  const primary = code & 0xff;
  if (primary === NOT_A_DATABASE || primary === CORRUPT) return new StoreError("foreign", message, error);
  return UNAVAILABLE.includes(primary) ? new StoreError("unavailable", message, error) : error;
}

export function isBusy(error: unknown): boolean {
  const code = numberOf(error);
  return code !== undefined && (code & 0xff) === BUSY;
}

/** The extended result code. Each library stores it in another property. */
function numberOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { rawCode, errcode } = error as { rawCode?: unknown; errcode?: unknown };
  const code = rawCode ?? errcode;
  return typeof code === "number" ? code : undefined;
}
