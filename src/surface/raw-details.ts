/**
 * Error details as raw JSON. They are kept beside the parsed details, so that writing the error loses no
 * digit of large numbers.
 */
import type { Raw } from "../kernel/raw.ts";

/** Used as the `cause` of a MetaMcpError. */
export class RawDetails extends Error {
  readonly details: Raw;
  /** The details for a model that sees only the error text. */
  readonly text: string;

  constructor(details: Raw, text = "") {
    super("as it was written");
    this.details = details;
    this.text = text;
  }
}
