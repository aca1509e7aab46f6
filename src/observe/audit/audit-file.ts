/** The audit log as JSON lines in a file, for whatever collects logs. Append-only; whoever moves it away finds a new one. */
import { appendFile, open } from "node:fs/promises";
import type { AuditRecord } from "../../store/store.ts";

const PRIVATE = 0o600;

/** Rejects where nothing can be written there: better at the start than by losing records. */
export async function checkAuditFile(path: string): Promise<void> {
  await appendFile(path, "", { mode: PRIVATE }).catch((error: Error) => {
    throw new Error(`the audit file ${path} cannot be written: ${error.message}`);
  });
}

export function auditFile(path: string): (batch: readonly AuditRecord[]) => Promise<number> {
  return async (batch) => {
    // Every body is an object with members.
    const lines = batch.map(
      ({ at, head = "", body }) => `{"at":"${new Date(at).toISOString()}",${`${head}${body}`.slice(1)}`,
    );
    const file = await open(path, "a", PRIVATE);
    try {
      const { size } = await file.stat();
      await file.appendFile(`${lines.join("\n")}\n`).catch(async (error: Error) => {
        // A full disk takes a part: it goes, as the whole batch comes again. What is no plain file cannot be cut.
        await file.truncate(size).catch(() => {});
        throw error;
      });
    } finally {
      await file.close();
    }
    return 0;
  };
}
