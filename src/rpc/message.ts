/** A JSON-RPC message with unparsed payloads. All codecs read and write this type. */
import type { Raw } from "../kernel/raw.ts";

/** Ids are kept as written, so that a number of 20 digits stays exact. */
export type Message =
  | { readonly kind: "request"; readonly id: Raw; readonly method: string; readonly params: Raw | undefined }
  | { readonly kind: "notification"; readonly method: string; readonly params: Raw | undefined }
  | { readonly kind: "result"; readonly id: Raw; readonly result: Raw }
  | { readonly kind: "error"; readonly id: Raw | undefined; readonly error: Raw };

/** Bytes that are no valid message: the reason, and the id if it could be read. */
export interface Malformed {
  readonly kind: "malformed";
  /** The JSON-RPC error code for an answer to it. */
  readonly code: -32700 | -32600;
  readonly reason: string;
  readonly id: Raw | undefined;
  /**
   * Whether it looks like a request (the id belongs to the other side) or an answer (the id is ours);
   * undefined if neither.
   */
  readonly meant: "request" | "answer" | undefined;
}
