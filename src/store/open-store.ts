/** Opens the store of a URL. If that fails it rejects with a StoreError and leaves the store unchanged. */
import { closeSync, openSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { codeOf } from "../home/file.ts";
import { type Env, expandTilde } from "../home/home.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { AuditTable } from "./audit.ts";
import { AUDIT_KEY } from "./audit-end.ts";
import { Availability } from "./availability.ts";
import { ConfigStore } from "./config.ts";
import type { Database, OnStatement } from "./database.ts";
import { DatabaseTime } from "./database-time.ts";
import { StoreError } from "./error.ts";
import { Feed } from "./feed.ts";
import { GuardedDatabase } from "./guarded.ts";
import { KeyedDatabase } from "./keyed.ts";
import { migrate, versionOf } from "./migrate.ts";
import type { Migration } from "./migrations.ts";
import { RecordTable } from "./records.ts";
import { type KeySource, keysFromEnv, type SecretKeys, secretKeys } from "./secret-keys.ts";
import type { SharedTables } from "./shared-tables.ts";
import { SqlStore } from "./sql-store.ts";
import type { Sealer, Store } from "./store.ts";
import { SumTables } from "./sums.ts";
import { keyFor, sealedRoot, unlock } from "./unlock.ts";
import { type ChangeListener, poll, Watch } from "./watch.ts";

/** Between the clocks of a process and of the database. */
const WRONG_MS = 30_000;

export interface StoreOptions {
  /** `file:PATH` or `postgres://…`. */
  readonly url: string;
  /** The folder of the secret key file, if the environment has no key. */
  readonly home: string;
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** For benches and tests. */
  readonly onStatement?: OnStatement;
  /** For tests. */
  readonly migrations?: readonly Migration[];
  readonly additions?: readonly Migration[];
}

interface Opened {
  readonly database: Database;
  readonly listener?: (onNotification: () => void) => ChangeListener;
  readonly copy?: (version: number) => Promise<void>;
}

export async function openStore(options: StoreOptions): Promise<Store> {
  const { url, home, env, log } = options;
  const path = filePath(url, env);
  const source: KeySource = { env, home, log, fileAllowed: path !== undefined };
  keysFromEnv(source);
  const opened = path === undefined ? await openServer(options) : await openFile(path, options);
  try {
    const sealer = await prepare(opened, source, options);
    return await assemble(opened, sealer, options);
  } catch (error) {
    await opened.database.close();
    throw error;
  }
}

/** Undefined for Postgres. */
function filePath(url: string, env: Env): string | undefined {
  if (/^postgres(ql)?:\/\//.test(url)) return undefined;
  const [, path] = /^file:(.+)$/.exec(url) ?? [];
  if (path === undefined) throw new StoreError("invalid", "the store must be file:PATH or postgres://…");
  return resolve(expandTilde(path.replace(/^\/\/(?=\/)/, ""), env));
}

async function openFile(
  path: string,
  { onStatement = () => {}, now = Date.now }: StoreOptions,
): Promise<Opened> {
  const { openSqlite } = await import("./sqlite/open.ts");
  const database = await openSqlite(path, onStatement);
  return { database, copy: (version) => copyFile(database, `${path}.v${version}.${stamp(now())}`) };
}

async function openServer({ url, env, onStatement = () => {} }: StoreOptions): Promise<Opened> {
  const { openPostgres } = await import("./postgres/open.ts");
  const { database, listener } = await openPostgres(url, onStatement, env["PGPASSWORD"]);
  return { database, listener: listener };
}

/** Checks the keys before migrating, so that a wrong key changes nothing. */
async function prepare(
  { database, copy }: Opened,
  source: KeySource,
  { migrations, additions, now = Date.now }: StoreOptions,
): Promise<Sealer> {
  const version = await versionOf(database, migrations);
  const root = version > 0 ? await sealedRoot(database.query) : undefined;
  const keys: SecretKeys = await secretKeys(source, root === undefined);
  if (root !== undefined) keyFor(root, keys);
  await migrate(database, {
    now,
    ...(migrations && { migrations }),
    ...(additions && { additions }),
    ...(copy && { copy }),
  });
  return await unlock(database, keys);
}

async function assemble(
  { database, listener }: Opened,
  sealer: Sealer,
  { clock, log, now = Date.now }: StoreOptions,
): Promise<Store> {
  const availability = new Availability(log);
  const feed = new Feed(log);
  // The first poll only sets the known versions. There are no listeners yet.
  const time = new DatabaseTime(now);
  await poll({ database, feed, time });
  const offMs = time.local - time.now;
  if (Math.abs(offMs) >= WRONG_MS) {
    const off = `${Math.round(Math.abs(offMs) / 1_000)} s ${offMs < 0 ? "behind" : "ahead of"}`;
    log.warn(`the clock of this machine is ${off} that of the database: set it, or logins may fail`);
  }
  const guarded = new GuardedDatabase(database, availability);
  // An embedded store has one process, so no other process can change its key.
  const keyed = database.dialect === "postgres" ? new KeyedDatabase(guarded, sealer.keyId) : guarded;
  const watch = listener && new Watch({ database, feed, time, availability, clock, log }, listener);
  availability.on(({ up }) => up || watch?.poll());
  return new SqlStore({
    database: guarded,
    config: new ConfigStore(keyed, feed, now),
    records: new RecordTable(keyed, feed, time),
    audit: new AuditTable(guarded, sealer.derive(AUDIT_KEY)),
    sums: new SumTables(guarded, now),
    sealer,
    ...(await sharedTables(guarded, feed)),
    availability,
    feed,
    time,
    watch,
    clock,
  });
}

/** The tables of several processes on one store. Their code is loaded only where there may be several. */
async function sharedTables(database: Database, feed: Feed): Promise<Partial<SharedTables>> {
  if (database.dialect !== "postgres") return {};
  const { openSharedTables } = await import("./shared-tables.ts");
  return openSharedTables(database, feed);
}

/**
 * VACUUM INTO writes the copy, but only into an empty file. The file is created before, readable only by its
 * owner.
 */
async function copyFile(database: Database, copy: string): Promise<void> {
  try {
    closeSync(openSync(copy, "wx", 0o600));
  } catch (error) {
    throw new StoreError(
      "unavailable",
      `cannot create ${copy}, the copy before the upgrade (${codeOf(error) ?? "unknown"})`,
      error,
    );
  }
  try {
    await database.query("VACUUM INTO ?", [copy]);
  } catch (error) {
    rmSync(copy, { force: true });
    throw error;
  }
}

function stamp(now: number): string {
  return new Date(now).toISOString().replaceAll(":", "-");
}
