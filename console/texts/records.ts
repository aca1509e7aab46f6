/** Texts of the pages Sessions, Audit and History. */
import { count, plural } from "../format.ts";

export const sessionsTexts = {
  title: "Sessions",
  summary: (n: number, endpoints: number) =>
    `${plural(n, "client is", "clients are")} connected to ${plural(endpoints, "endpoint")}.`,
  list: "Sessions",
  search: "Search sessions",
  empty: {
    title: "No client is connected",
    text: "A client appears here when it opens a session at an endpoint. Clients of the stateless protocol have no sessions; see their calls on the page Traffic.",
  },
  columns: {
    client: "Client",
    principal: "Who",
    endpoint: "Endpoint",
    protocol: "Protocol",
    calls: "Calls",
    since: "Since",
    seen: "Last seen",
    key: "Key",
    id: "Session",
  },
  unknownClient: "unnamed",
  end: "End session",
  endAsk: {
    title: "End this session?",
    text: "Its running calls are cancelled. The client can open a new session. To prevent that, revoke its key or disable its account.",
  },
  ended: "The session has ended",
  calls: "Show its calls in the audit log",
} as const;

export const auditTexts = {
  title: "Audit",
  summary: "Every call, change and login, newest first.",
  lost: (n: number) => `${plural(n, "record was", "records were")} lost.`,
  fault: (reason: string) => `Records wait in memory: ${reason}`,
  list: "Audit records",
  verify: "Verify the log",
  verified: (n: number, lost: number) =>
    `${plural(n, "record")} checked: none was changed or removed.${lost > 0 ? ` ${plural(lost, "record was", "records were")} lost before they could be written.` : ""}`,
  broken: (seq: number, reason: string) => `The log was changed at record ${count(seq)}: ${reason}`,
  more: "Show older records",
  export: "Export",
  exportTitle: "The newest 10,000 matching records, one JSON object per line",
  empty: { title: "No matching records", text: "Remove a filter or choose another time." },
  filters: {
    kind: "Kind",
    outcome: "Outcome",
    principalName: "Who",
    endpoint: "Endpoint",
    server: "Server",
    tool: "Tool",
    from: "From",
    to: "To",
    any: "any",
    clear: "Clear filters",
    key: "Key",
    session: "Session",
    client: "Client",
  },
  kinds: { call: "Call", begun: "Begin", admin: "Change", login: "Login", lost: "Lost" },
  columns: {
    at: "When",
    kind: "Kind",
    who: "Who",
    what: "What",
    where: "Where",
    outcome: "Outcome",
    duration: "Took",
  },
  record: (seq: number) => `Record ${count(seq)}`,
} as const;

export const historyTexts = {
  title: "History",
  summary: (n: number) => (n === 0 ? "Nothing is configured yet." : `The config is at revision ${count(n)}.`),
  list: "Revisions",
  search: "Search revisions",
  empty: {
    title: "No revisions yet",
    text: "Each change of servers, namespaces, endpoints or settings is a revision. You can roll back to any of them.",
  },
  columns: { n: "Revision", at: "When", who: "Who", summary: "What" },
  revision: (n: number) => `Revision ${count(n)}`,
  changes: "What it changed",
  none: "It did not change the config.",
  rollback: "Roll back to here",
  current: "This is the current config.",
  ask: {
    title: (n: number) => `Roll back to revision ${count(n)}?`,
    text: "This restores the config of this revision as a new revision. Keys, accounts and the audit log stay unchanged.",
    same: "The config is the same: nothing would change.",
    would: "This would change:",
    confirm: "Roll back",
  },
  done: (n: number) => `Rolled back: the config is at revision ${count(n)}`,
  ops: { create: "created", update: "changed", delete: "deleted" },
} as const;
