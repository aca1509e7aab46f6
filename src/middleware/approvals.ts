/** The way to a yes of somebody else, for one call. Whoever runs a gateway provides it; without one nobody can say yes. */
import type { Call } from "../kernel/call.ts";

/** Who may say yes, beside administrators. */
export interface Approvers {
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
}

export interface ApprovalTerms {
  readonly by: Approvers;
  readonly withinMs: number;
  /** Why a yes is needed. */
  readonly reason: string;
}

export interface Approvals {
  /** Resolves on a yes, else rejects with the reason. Nothing is done before. */
  wait(call: Call, terms: ApprovalTerms): Promise<void>;
}
