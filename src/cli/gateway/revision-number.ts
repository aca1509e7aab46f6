/** Parses the number of a revision. */
import { UsageError } from "../../config/command-line.ts";

export function revisionNumber(written: string): number {
  if (/^[1-9]\d{0,14}$/.test(written)) return Number(written);
  throw new UsageError(`"${written}" is not the number of a revision.`);
}
