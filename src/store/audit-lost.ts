/** The record by which the audit log itself says that records before it were lost. Pure. */
import type { AuditRecord } from "./store.ts";

const LOST = /^\S+ \d+ \d+ \{"kind":"lost","outcome":"error","count":(\d+)/gm;

export function lostRecord(at: number, count: number): AuditRecord {
  return { at, body: `{"kind":"lost","outcome":"error","count":${count}}` };
}

/** How many records were lost, according to the lines of a batch. */
export function lostIn(lines: string): number {
  if (!lines.includes('{"kind":"lost"')) return 0;
  return Array.from(lines.matchAll(LOST), ([, count]) => Number(count)).reduce(
    (sum, count) => sum + count,
    0,
  );
}
