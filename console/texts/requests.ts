/** Texts of the page Requests. */
import { plural } from "../format.ts";

export const requestsTexts = {
  title: "Requests",
  answer: (calls: number, servers: number) =>
    calls + servers === 0
      ? "Nothing waits for a decision."
      : `${plural(calls, "call waits", "calls wait")} for approval, ${plural(servers, "server is", "servers are")} requested.`,
  tabs: "Requests",
  calls: {
    tab: "Calls",
    list: "Calls that wait for approval",
    empty: {
      title: "No call waits for approval",
      text: "A call that a policy puts up for approval waits here until somebody decides.",
    },
    columns: { tool: "Tool", who: "Who", endpoint: "Endpoint", reason: "Why", state: "State", at: "Since" },
    states: {
      waiting: "Waiting",
      approved: "Approved",
      refused: "Refused",
      expired: "Expired",
      withdrawn: "Withdrawn",
    },
    arguments: "What would be sent",
    key: "Key",
    approve: "Approve call",
    refuse: "Refuse",
    comment: "Comment",
    commentHint: "Goes into the audit log. A refused caller sees it.",
    approved: "Approved: the call is made",
    refused: "Refused: nothing was done",
    decidedBy: "Decided by",
    expires: "Waits until",
    notYours: "Somebody else decides this one.",
  },
  servers: {
    tab: "Servers",
    list: "Requested servers",
    empty: {
      title: "Nobody requested a server",
      text: "When a model needs a server that is not here, its request appears on this page.",
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
    namespace: "Namespace it joins",
    first: "The first one of the endpoint",
    missing: "Values it needs",
    approve: "Add server",
    refuse: "Refuse",
    reason: "Reason",
    approved: (name: string) => `${name} was added`,
    refused: "The request is refused",
  },
} as const;
