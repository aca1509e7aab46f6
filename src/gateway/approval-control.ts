/**
 * Calls that wait for the approval of another person, and the interface through which the admin API decides
 * them.
 */
import { BOOLEAN, DATE, named, object, type Static, TEXT, TEXTS, UUID } from "../kernel/json-schema.ts";
import { NAMED_OBJECT } from "../kernel/named-object.ts";
import { ACTOR, CALLER, type Principal, TIERS } from "../kernel/principal.ts";

export const APPROVAL_STATES = ["waiting", "approved", "refused", "expired", "withdrawn"] as const;

export const APPROVAL = named(
  "Approval",
  object(
    {
      uuid: UUID,
      state: { enum: APPROVAL_STATES },
      name: { ...TEXT, description: "server:tool" },
      at: DATE,
      expiresAt: DATE,
      endpoint: NAMED_OBJECT,
      principal: { ...CALLER, description: "who made the call" },
      server: NAMED_OBJECT,
      tool: { ...TEXT, description: "the tool's name at the server" },
      arguments: {
        description:
          "the arguments as they would be sent: secrets are replaced by their length, invisible characters are escaped, long numbers are texts, and above 64 KB each long value is shortened in the middle",
      },
      reason: { ...TEXT, description: "why the call needs an approval" },
      by: {
        ...object({}, { roles: TEXTS, groups: TEXTS }),
        description: "who can decide, besides administrators",
      },
      decidable: { ...BOOLEAN, description: "you may decide it now" },
    },
    {
      tier: { enum: TIERS, description: "the kind of the tool, by its annotations" },
      via: { enum: ["code", "chain"] },
      decidedAt: DATE,
      decidedBy: ACTOR,
      comment: TEXT,
    },
  ),
);
export type Approval = Static<typeof APPROVAL>;

export interface ApprovalControl {
  /** The approvals that this principal may decide or has asked for. */
  list(principal: Principal): readonly Approval[];
  /** Can be done once. Rejects with Refusal. */
  decide(
    uuid: string,
    decision: {
      readonly approve: boolean;
      readonly principal: Principal;
      readonly comment?: string | undefined;
    },
  ): Promise<Approval>;
}
