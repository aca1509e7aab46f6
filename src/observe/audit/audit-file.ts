/**
 * Writes the audit log as JSON lines to a file, for log collectors. Append-only. If the file is moved away, a
 * new one is created.
 */
import { appendFile, open } from "node:fs/promises";
import type { AuditRecord } from "../../store/store.ts";

const PRIVATE = 0o600;

/** Rejects if the file cannot be written. Runs at start, so that no records are lost later. */
export async function checkAuditFile(path: string): Promise<void> {
  await appendFile(path, "", { mode: PRIVATE }).catch((error: Error) => {
    throw new Error(`the audit file ${path} cannot be written: ${error.message}`);
  });
}

/** A record as the file gets it. One that the store did not get has no number and no hash. */
export interface FileRecord extends AuditRecord {
  readonly seq?: number;
  readonly hash?: string;
}

export function auditFile(path: string): (batch: readonly FileRecord[]) => Promise<number> {
  return async (batch) => {
    // Every body is a JSON object with at least one member, so the time can be inserted after the brace.
    const lines = batch.map(({ seq, at, hash, head = "", body }) => {
      const place = seq === undefined ? "" : `"seq":${seq},"hash":"${hash}",`;
      return `{${place}"at":"${new Date(at).toISOString()}",${`${head}${body}`.slice(1)}`;
    });
    const file = await open(path, "a", PRIVATE);
    try {
      const { size } = await file.stat();
      await file.appendFile(`${lines.join("\n")}\n`).catch(async (error: Error) => {
        // A full disk accepts a part of the batch. The part is removed, because the whole batch is written
        // again. Special files cannot be truncated.
        await file.truncate(size).catch(() => {});
        throw error;
      });
    } finally {
      await file.close();
    }
    return 0;
  };
}
