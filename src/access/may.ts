/**
 * The table of rights, and the function that checks it. The routes of the admin API and the docs use the same
 * table.
 */
import type { Principal } from "../kernel/principal.ts";
import { ROLES, type Role } from "./account.ts";

interface Row {
  /** The least role that has the right. */
  readonly least: Role | "anyone";
  /** The least role that has the right for objects of other accounts. */
  readonly others?: Role;
  /** Only accounts and their keys have the right, not tokens or keys without owner. */
  readonly account?: true;
  readonly what: string;
}

export const MATRIX = {
  login: { least: "anyone", what: "log in, set up the first administrator, accept an invitation" },
  "me.read": { least: "member", what: "see their account and rights" },
  "me.change": { least: "member", account: true, what: "change their password, log out" },
  "me.secrets": { least: "member", account: true, what: "manage their own secrets and logins for servers" },
  "me.grants": { least: "member", account: true, what: "list and revoke their grants to OAuth clients" },
  "me.calls": { least: "member", account: true, what: "see their own calls" },
  "keys.read": { least: "member", others: "admin", account: true, what: "list API keys" },
  "keys.write": {
    least: "member",
    others: "admin",
    account: true,
    what: "create, rename and revoke API keys",
  },
  "description.read": { least: "member", what: "read the API description" },
  "endpoints.use": { least: "member", what: "see the endpoints they may use" },
  "endpoints.try": {
    least: "member",
    others: "admin",
    account: true,
    what: "try tools of the endpoints they may use",
  },
  "objects.read": { least: "viewer", what: "read servers, namespaces, endpoints and their tools" },
  "history.read": { least: "viewer", what: "read revisions" },
  "stats.read": { least: "viewer", what: "read statistics, live events and calls without arguments" },
  "metrics.read": { least: "admin", what: "read metrics" },
  "audit.read": { least: "viewer", what: "read the audit log, without arguments and results" },
  "namespaces.write": { least: "editor", what: "create, change and delete namespaces" },
  "endpoints.write": { least: "editor", what: "create, change and delete endpoints, except `access`" },
  "servers.switch": { least: "editor", what: "enable and disable servers" },
  "config.apply": {
    least: "editor",
    what: "apply a document or roll back, if they may make all its changes",
  },
  "approvals.decide": {
    least: "member",
    what: "see their own calls that wait for approval; decide about calls where a policy names them",
  },
  "servers.write": { least: "admin", what: "create, change and delete servers" },
  "servers.use": {
    least: "admin",
    what: "reconnect servers, call their tools in the inspector, replay calls",
  },
  "servers.logs": { least: "admin", what: "read the stderr of servers" },
  "access.write": { least: "admin", what: "change `access` of endpoints" },
  "layers.guarded": {
    least: "admin",
    what: "change layers that guard access or data, and custom layers",
  },
  "annotations.loosen": {
    least: "admin",
    what: "override annotations so that a tool looks less dangerous than its server says",
  },
  "arguments.read": { least: "admin", what: "read arguments and results of calls" },
  sessions: { least: "admin", what: "list and end sessions" },
  settings: { least: "admin", what: "read and change settings, export the config" },
  people: { least: "admin", what: "invite, change and delete accounts" },
  provision: { least: "admin", what: "search for new servers and decide on requests for them" },
} as const satisfies Readonly<Record<string, Row>>;

export type Action = keyof typeof MATRIX;
export const ACTIONS = Object.keys(MATRIX) as readonly Action[];

export interface RightSubject {
  /** Uuid of the account that owns the object. Undefined without owner. */
  readonly owner?: string | undefined;
  /** A role that the action grants. Nobody can grant a role that they do not have. */
  readonly role?: Role | undefined;
}

/** Without `subject`: whether the principal may do this with any object. */
export function may(principal: Principal, action: Action, subject?: RightSubject): boolean {
  const { least, others, account }: Row = MATRIX[action];
  if (least === "anyone") return true;
  if (others && has(principal, others)) return !subject?.role || has(principal, subject.role);
  if (account && principal.kind !== "account") return false;
  if (others && subject && subject.owner !== principal.id) return false;
  return has(principal, least) && (!subject?.role || has(principal, subject.role));
}

/** Whether a principal has this role or one with more rights. */
export function has({ roles }: Principal, least: Role): boolean {
  const rank = ROLES.indexOf(least);
  return ROLES.some((role, at) => at <= rank && roles.includes(role));
}

export function lesserRole(a: Role, b: Role): Role {
  return ROLES.indexOf(a) > ROLES.indexOf(b) ? a : b;
}

export function actionsOf(principal: Principal): readonly Action[] {
  return ACTIONS.filter((action) => may(principal, action));
}
