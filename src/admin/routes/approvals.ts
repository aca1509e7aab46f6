/** Routes for calls that wait for the approval of another person. */

import { APPROVAL, APPROVAL_STATES, type Approval } from "../../gateway/approval-control.ts";
import { object, type Static } from "../../kernel/json-schema.ts";
import { pageOf } from "../page.ts";
import { type AdminRequest, LIST_QUERY, route } from "../route.ts";
import { listOf } from "../schemas.ts";
import type { AdminParts } from "./parts.ts";

const DECISION = object(
  {},
  {
    comment: {
      type: "string",
      maxLength: 500,
      description: "stored with the decision; the caller sees it after a refusal",
    },
  },
);

export function approvalRoutes(parts: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/approvals",
      summary:
        "List calls that wait for approval, then decided ones, newest first: those you may decide, and your own",
      tag: "approvals",
      action: "approvals.decide",
      query: { ...LIST_QUERY, state: { enum: APPROVAL_STATES } },
      answer: listOf(APPROVAL),
      handle({ query, principal }) {
        const { state } = query;
        const all = parts.approvals
          .list(principal)
          .filter((one) => state === undefined || one.state === state);
        return { body: pageOf(all, query, { keyOf: newestFirst, textOf }) };
      },
    }),
    route({
      method: "POST",
      path: "/approvals/:uuid/approve",
      summary: "Approve a waiting call; it runs once",
      tag: "approvals",
      action: "approvals.decide",
      body: DECISION,
      answer: APPROVAL,
      handle: (request) => decided(parts, request, true),
    }),
    route({
      method: "POST",
      path: "/approvals/:uuid/refuse",
      summary: "Refuse a waiting call",
      tag: "approvals",
      action: "approvals.decide",
      body: DECISION,
      answer: APPROVAL,
      handle: (request) => decided(parts, request, false),
    }),
  ];
}

async function decided(
  { approvals }: AdminParts,
  { params, body, principal }: AdminRequest<unknown, Static<typeof DECISION>, { readonly uuid: string }>,
  approve: boolean,
) {
  return { body: await approvals.decide(params.uuid, { ...body, approve, principal }) };
}

function textOf({ name, principal, endpoint, reason }: Approval): string {
  return [name, principal.name, endpoint.name, reason].join("\n");
}

/**
 * A sort key, waiting calls first: pages are sorted ascending and uuids begin with their creation time, so
 * each digit is inverted.
 */
function newestFirst({ uuid, state }: Approval): string {
  const waits = state === "waiting" ? "0" : "1";
  return waits + uuid.replaceAll(/[0-9a-f]/g, (digit) => (15 - Number.parseInt(digit, 16)).toString(16));
}
