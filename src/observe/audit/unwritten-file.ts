/**
 * Keeps the records that a stopping gateway could not write to the store, until the next start adds them to
 * the log.
 */
import { appendFile, chmod, mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { isRecord } from "../../kernel/is-record.ts";
import { AUDIT_BATCH, type Audit, type AuditRecord } from "../../store/store.ts";
import type { FileRecord } from "./audit-file.ts";

const PRIVATE = 0o600;
const PAGE = 500;

export async function keepUnwritten(path: string, records: readonly AuditRecord[]): Promise<void> {
  const lines = records.map(({ at, head = "", body }) => JSON.stringify({ at, body: head + body }));
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await appendFile(path, `${lines.join("\n")}\n`, { mode: PRIVATE });
  await chmod(path, PRIVATE);
}

export interface LogWriter {
  readonly audit: Pick<Audit, "query">;
  readonly write: (batch: readonly AuditRecord[]) => Promise<void>;
  /** Gets the kept records that the log already contains. */
  readonly found: (records: readonly FileRecord[]) => void;
}

/** Adds kept records to the log. Returns their number. If it rejects, they are still kept. */
export async function addUnwritten(path: string, { audit, write, found }: LogWriter): Promise<number> {
  let added = 0;
  const taken = `${path}.taken`;
  // A start that was interrupted leaves the taken file.
  for (const from of [taken, path]) {
    if (from === path && !(await isMoved(path, taken))) continue;
    const records = await readRecords(taken);
    const { stored, missing } = await separate(records, audit);
    found(stored);
    for (let at = 0; at < missing.length; at += AUDIT_BATCH) await write(missing.slice(at, at + AUDIT_BATCH));
    added += missing.length;
    await rm(taken, { force: true });
  }
  return added;
}

async function isMoved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

async function readRecords(path: string): Promise<readonly AuditRecord[]> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  return text.split("\n").flatMap((line) => {
    try {
      const { at, body } = JSON.parse(line) as AuditRecord;
      return Number.isFinite(at) && isRecord(JSON.parse(body)) ? [{ at, body }] : [];
    } catch {
      // The end of a file that was written while the disk was full.
      return [];
    }
  });
}

/** A write without an answer may have arrived, so the log may contain some of the records. */
async function separate(
  records: readonly AuditRecord[],
  audit: Pick<Audit, "query">,
): Promise<{ readonly stored: readonly FileRecord[]; readonly missing: readonly AuditRecord[] }> {
  if (records.length === 0) return { stored: [], missing: [] };
  const times = records.map(({ at }) => at).toSorted((a, b) => a - b);
  const places = await placesOf(audit, times[0] ?? 0, times.at(-1) ?? 0);
  const stored: FileRecord[] = [];
  const missing: AuditRecord[] = [];
  for (const record of records) {
    const place = places.get(keyOf(record.at, JSON.parse(record.body)))?.pop();
    if (place) stored.push({ ...record, ...place });
    else missing.push(record);
  }
  return { stored, missing };
}

type Place = Required<Pick<FileRecord, "seq" | "hash">>;

/** Numbers and hashes of the records of that time, by their text; the oldest last. */
async function placesOf(
  audit: Pick<Audit, "query">,
  from: number,
  to: number,
): Promise<ReadonlyMap<string, Place[]>> {
  const places = new Map<string, Place[]>();
  for (let cursor: number | undefined; ; ) {
    const page = await audit.query({
      from,
      to: to + 1,
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    });
    for (const { at, body, seq, hash } of page.items) {
      const key = keyOf(at, body);
      places.set(key, [...(places.get(key) ?? []), { seq, hash }]);
    }
    cursor = page.nextCursor;
    if (cursor === undefined) return places;
  }
}

function keyOf(at: number, body: unknown): string {
  return `${at} ${JSON.stringify(body)}`;
}
