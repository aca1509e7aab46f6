/** The error for a change that is refused. The message says what to do. */
import type { FieldProblem } from "../kernel/field-problem.ts";
import type { ObjectReference } from "../kernel/named-object.ts";
import type { TestResult } from "./test-result.ts";

export type RefusalCode =
  /** Somebody else decides this. */
  | "not_yours"
  | "not_found"
  | "name_taken"
  /** Other objects use it. */
  | "in_use"
  /** Two tools would have the same name. */
  | "collision"
  /** A file manages the object. */
  | "managed"
  | "decided"
  /** Somebody else changed it meanwhile. */
  | "stale"
  /** A later revision changed the same value. */
  | "later_change"
  | "too_many"
  /** A policy test would fail. */
  | "test_failed"
  | "invalid";

export interface RefusalDetails {
  readonly errors?: readonly FieldProblem[];
  /** For `stale`: the current object, in the form of the API. */
  readonly current?: unknown;
  /** For `test_failed`: the tests that would fail. */
  readonly tests?: readonly TestResult[];
  /** The objects that prevent the change. */
  readonly objects?: readonly ObjectReference[];
}

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: RefusalCode;
  readonly details: RefusalDetails;

  constructor(code: RefusalCode, message: string, details: RefusalDetails = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export function invalid(errors: readonly FieldProblem[]): Refusal {
  const [first] = errors;
  const where = first?.path ? `${first.path} ` : "";
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return new Refusal("invalid", `${where}${first?.message ?? "It is invalid"}${more}`, { errors });
}
