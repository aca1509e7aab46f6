/** Texts of the page Requests. */
import { plural } from "../format.ts";

export const requestsTexts = {
  title: "Requests",
  summary: (calls: number, servers: number) =>
    calls + servers === 0
      ? "No requests are waiting."
      : `${plural(calls, "call waits", "calls wait")} for approval${servers > 0 ? `, ${plural(servers, "server is", "servers are")} requested` : ""}.`,
  notices: "Tell me in this browser",
  tabs: "Requests",
  calls: {
    tab: "Calls",
    list: "Calls that wait for approval",
    empty: {
      title: "No calls wait for approval",
      text: "A policy with the effect “approve” holds a call here until somebody decides.",
    },
    columns: { tool: "Tool", who: "Who", endpoint: "Endpoint", reason: "Why", state: "State", at: "Since" },
    states: {
      waiting: "Waiting",
      approved: "Approved",
      refused: "Refused",
      expired: "Expired",
      withdrawn: "Withdrawn",
    },
    left: (time: string) => `${time} left`,
    kind: "Kind",
    tiers: { readOnly: "reads", write: "changes data", destructive: "may delete or overwrite" },
    decide: "Decide",
    approveRow: "Approve",
    approveOne: (name: string) => `Approve ${name}`,
    refuseOne: (name: string) => `Refuse ${name}`,
    outcome: "Show its call in the audit log",
    arguments: "What was asked to be sent",
    key: "Key",
    approve: "Approve call",
    refuse: "Refuse",
    comment: "Comment",
    commentHint: "Recorded in the audit log. After a refusal the caller sees it.",
    approved: "Approved: the call runs",
    refused: "Refused: nothing was done",
    decidedBy: "Decided by",
    expires: "Waits until",
    notYours: "Somebody else must decide this.",
  },
  servers: {
    tab: "Servers",
    list: "Requested servers",
    empty: {
      title: "No requested servers",
      text: "If a model asks for a server that you do not have, the request appears here.",
    },
    columns: {
      name: "Server",
      who: "Who",
      intent: "What for",
      endpoint: "Endpoint",
      state: "State",
      at: "Asked",
    },
    states: { pending: "Waiting", approved: "Added", refused: "Refused" },
    runs: "What would run",
    namespace: "Add to namespace",
    first: "First namespace of the endpoint",
    missing: "Values it needs",
    approve: "Add server",
    refuse: "Refuse",
    reason: "Reason",
    approved: (name: string) => `${name} was added`,
    refused: "The request is refused",
  },
} as const;
