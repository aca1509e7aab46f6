/**
 * The interface through which a layer asks somebody else to approve a call. A gateway provides it; without it
 * nobody can approve.
 */
import { createHash } from "node:crypto";
import type { Call } from "../kernel/call.ts";

/** Who may approve, beside administrators. */
export interface Approvers {
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
}

export interface ApprovalTerms {
  readonly by: Approvers;
  readonly withinMs: number;
  /** Why an approval is needed. */
  readonly reason: string;
}

export interface Approvals {
  /** Resolves if the call is approved, otherwise rejects with the reason. */
  wait(call: Call, terms: ApprovalTerms): Promise<void>;
}

/**
 * The permission that an approval of this call by these approvers gives. It does not cover other arguments.
 */
export function approvalOf({ server, params }: Call, by: Approvers): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([by, server]))
    .update(params);
  return `approval-${hash.digest("hex")}`;
}
