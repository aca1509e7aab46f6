/** One JSON-RPC message with its payloads as written. What every codec reads and writes. */
import type { Raw } from "../kernel/raw.ts";

/** Ids are echoed as written: a number of 20 digits is still one. */
export type Message =
  | { readonly kind: "request"; readonly id: Raw; readonly method: string; readonly params: Raw | undefined }
  | { readonly kind: "notification"; readonly method: string; readonly params: Raw | undefined }
  | { readonly kind: "result"; readonly id: Raw; readonly result: Raw }
  | { readonly kind: "error"; readonly id: Raw | undefined; readonly error: Raw };

/** Bytes that are no message: what is wrong, and the id where one could still be read. */
export interface Malformed {
  readonly kind: "malformed";
  /** The JSON-RPC code an answer to it would carry. */
  readonly code: -32700 | -32600;
  readonly reason: string;
  readonly id: Raw | undefined;
  /** Whose the id is: theirs in a request, one of ours in an answer. Undefined where it shows no sign of either. */
  readonly meant: "request" | "answer" | undefined;
}
