/** Details of an error that hold what others wrote: kept beside what was read of them, so that who writes the error down loses no digit. */
import type { Raw } from "../kernel/raw.ts";

/** The cause of an error with such details. */
export class Written extends Error {
  readonly details: Raw;
  /** What they say to a model that sees only the text of the error. */
  readonly inWords: string;

  constructor(details: Raw, inWords = "") {
    super("as it was written");
    this.details = details;
    this.inWords = inWords;
  }
}
