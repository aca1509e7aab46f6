/** Routes for calls that wait for the approval of another person. */
import type { Approval } from "../../gateway/control.ts";
import { pageOf } from "../page.ts";
import { APPROVAL_STATES } from "../pipeline-schemas.ts";
import { LIST_QUERY, type Route } from "../route.ts";
import { listOf, ref } from "../schemas.ts";
import { type AdminParts, checkedBody } from "./parts.ts";

const DECISION = {
  type: "object",
  properties: {
    comment: {
      type: "string",
      maxLength: 500,
      description: "stored with the decision; the caller sees it after a refusal",
    },
  },
  additionalProperties: false,
} as const;

export function approvalRoutes(parts: AdminParts): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/approvals",
      summary: "List calls that wait for approval, newest first: those you may decide, and your own",
      tag: "approvals",
      action: "approvals.decide",
      query: { ...LIST_QUERY, state: { enum: APPROVAL_STATES } },
      answer: listOf(ref("Approval")),
      handle({ query, principal }) {
        const state = query.get("state") ?? undefined;
        const all = parts.approvals
          .list(principal)
          .filter((one) => state === undefined || one.state === state);
        return { body: pageOf(all, query, { keyOf: newestFirst, textOf }) };
      },
    },
    decisionRoute(parts, "approve", "Approve a waiting call; it runs once"),
    decisionRoute(parts, "refuse", "Refuse a waiting call"),
  ];
}

function decisionRoute({ approvals }: AdminParts, verb: "approve" | "refuse", summary: string): Route {
  return {
    method: "POST",
    path: `/approvals/:uuid/${verb}`,
    summary,
    tag: "approvals",
    action: "approvals.decide",
    body: DECISION,
    answer: ref("Approval"),
    async handle({ params, body, principal }) {
      const { comment } = await checkedBody<{ comment?: string }>(DECISION, body ?? {});
      const approve = verb === "approve";
      return { body: await approvals.decide(params["uuid"] ?? "", { approve, principal, comment }) };
    },
  };
}

function textOf({ name, principal, endpoint, reason }: Approval): string {
  return [name, principal.name, endpoint.name, reason].join("\n");
}

/** A sort key: pages are sorted ascending and uuids begin with their creation time, so each digit is inverted. */
function newestFirst({ uuid }: Approval): string {
  return uuid.replaceAll(/[0-9a-f]/g, (digit) => (15 - Number.parseInt(digit, 16)).toString(16));
}
