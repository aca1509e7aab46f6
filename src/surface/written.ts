/** Details of an error that hold what others wrote: kept beside what was read of them, so that who writes the error down loses no digit. */
import type { Raw } from "../kernel/raw.ts";

/** The cause of an error with such details. */
export class Written extends Error {
  readonly details: Raw;

  constructor(details: Raw) {
    super("as it was written");
    this.details = details;
  }
}
