/** Lists the current problems that a principal may see, worst first. Reads only memory, not the store. */
import { may } from "../access/may.ts";
import type { ConnectionStatus, GatewayControl } from "../gateway/control.ts";
import type { StoredObject } from "../gateway/objects.ts";
import { ADDRESS_FIELDS } from "../gateway/secret-texts.ts";
import { isSecretText } from "../kernel/looks-secret.ts";
import type { Principal } from "../kernel/principal.ts";
import type { AuditState } from "../observe/audit/audit-log.ts";
import type { AttentionItem } from "./attention-schemas.ts";
import type { Whole } from "./gather.ts";
import type { ServerStatus } from "./replica-schemas.ts";
import type { AdminParts } from "./routes/parts.ts";
import { shownTo } from "./server-output.ts";
import { connectionsOf, type ReplicaConnection, wholeStatus } from "./server-status.ts";

const DAY_MS = 86_400_000;
const SOON_MS = 7 * DAY_MS;
const SEVERITIES = ["error", "warning", "info"] as const satisfies readonly AttentionItem["severity"][];

export type AttentionParts = Pick<
  AdminParts,
  "control" | "access" | "approvals" | "pins" | "health" | "replicas"
>;

/** What all replicas say. */
export interface Gathered {
  readonly now: number;
  readonly requests: number;
  readonly connections: Whole<Readonly<Record<string, ConnectionStatus>>>;
  readonly audit: AuditState;
}

export function attentionFor(
  parts: AttentionParts,
  principal: Principal,
  { now, requests, connections, audit }: Gathered,
): readonly AttentionItem[] {
  const items = [
    ...(may(principal, "stats.read")
      ? [...storeItems(parts), ...replicaItems(parts, connections), ...auditItems(audit)]
      : []),
    ...(may(principal, "objects.read")
      ? [...serverItems(parts, principal, connections), ...endpointItems(parts)]
      : []),
    ...keyItems(parts, principal, now),
    ...approvalItems(parts, principal),
    ...(requests > 0 ? [{ kind: "requests.pending", severity: "info", count: requests } as const] : []),
  ];
  return items.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

function storeItems({ health }: AttentionParts): readonly AttentionItem[] {
  const state = health.store();
  return state.up ? [] : [{ kind: "store.away", severity: "error", reason: state.reason }];
}

function replicaItems(
  { replicas: { unshared } }: AttentionParts,
  { missing: { missing = [] } }: Gathered["connections"],
): readonly AttentionItem[] {
  const silent = missing.filter(({ why }) => why === "silent").map(({ replica }) => replica);
  return [
    ...(unshared === undefined
      ? []
      : [{ kind: "replicas.unshared", severity: "warning", reason: unshared } as const]),
    ...(silent.length === 0
      ? []
      : [{ kind: "replica.silent", severity: "warning", replicas: silent } as const]),
  ];
}

function auditItems({ lost, fault }: AuditState): readonly AttentionItem[] {
  return [
    ...(fault === undefined ? [] : [{ kind: "audit.fault", severity: "error", reason: fault } as const]),
    ...(lost === 0 ? [] : [{ kind: "audit.lost", severity: "error", count: lost } as const]),
  ];
}

function serverItems(
  parts: AttentionParts,
  principal: Principal,
  connections: Gathered["connections"],
): readonly AttentionItem[] {
  return [...parts.control.compiled.objects.server.values()].flatMap((server) => [
    ...statusItems(parts.control, server, principal, connectionsOf(connections, server.uuid)),
    ...secretItems(server),
    ...changedToolItems(parts, server),
  ]);
}

function statusItems(
  control: GatewayControl,
  server: StoredObject<"server">,
  principal: Principal,
  connections: readonly ReplicaConnection[],
): readonly AttentionItem[] {
  const failed = connections.filter(({ status }) => status.state === "failed");
  const [first] = failed;
  if (!first) return untriedItems(server, wholeStatus(principal, connections));
  const { reason, since, needsLogin } = shownTo(principal, first.status);
  const misconfigured = control.compiled.servers.get(server.uuid)?.reason !== undefined;
  const kind = misconfigured ? "server.misconfigured" : needsLogin ? "server.login" : "server.failed";
  const why = { ...(reason !== undefined && { reason }), ...(since !== undefined && { since }) };
  const where =
    failed.length === connections.length ? {} : { replicas: failed.map(({ replica = "" }) => replica) };
  return [{ kind, severity: "error", object: referenceTo(server), ...why, ...where }];
}

/** Failed before the gateway started, and nobody has tried it since. */
function untriedItems(
  server: StoredObject<"server">,
  { lastFailure }: ServerStatus,
): readonly AttentionItem[] {
  if (!lastFailure) return [];
  const { since, reason } = lastFailure;
  return [{ kind: "server.untried", severity: "warning", object: referenceTo(server), reason, since }];
}

/** Arguments and URLs that were stored before they were sealed, or that only look like a secret. */
function secretItems(server: StoredObject<"server">): readonly AttentionItem[] {
  const { args = [] } = server.spec;
  const plain = [
    ...args.map((text, at) => [`args/${at}`, text] as const),
    ...ADDRESS_FIELDS.map((name) => [name, server.spec[name]] as const),
  ];
  return plain
    .filter(([, text]) => typeof text === "string" && !text.includes("${") && isSecretText(text))
    .map(([field]) => ({ kind: "server.secret", severity: "warning", object: referenceTo(server), field }));
}

function changedToolItems(
  { pins }: AttentionParts,
  server: StoredObject<"server">,
): readonly AttentionItem[] {
  const { changes } = pins.review(server.uuid);
  const suspect = changes.filter(({ kind }) => kind === "suspect").length;
  const severity = pins.enforced ? "warning" : "info";
  const item = (kind: "tools.changed" | "tools.suspect", count: number): readonly AttentionItem[] =>
    count === 0 ? [] : [{ kind, severity, object: referenceTo(server), count }];
  return [...item("tools.suspect", suspect), ...item("tools.changed", changes.length - suspect)];
}

function endpointItems({ control, health }: AttentionParts): readonly AttentionItem[] {
  if (!health.exposed) return [];
  return [...control.compiled.paths.values()]
    .filter(({ object }) => object.spec.access.public)
    .map(({ object }) => ({ kind: "endpoint.public", severity: "warning", object: referenceTo(object) }));
}

function keyItems({ access }: AttentionParts, principal: Principal, now: number): readonly AttentionItem[] {
  return access.keys
    .expiringBefore(now + SOON_MS)
    .filter(({ owner }) => may(principal, "keys.read", { owner }))
    .map(({ id: uuid, name, expiresAt }) => ({
      kind: "key.expiring",
      severity: "info",
      object: { kind: "api-key", uuid, name },
      until: new Date(expiresAt).toISOString(),
    }));
}

function approvalItems({ approvals }: AttentionParts, principal: Principal): readonly AttentionItem[] {
  const waiting = approvals
    .list(principal)
    .filter(({ state, decidable }) => state === "waiting" && decidable);
  return waiting.length === 0
    ? []
    : [{ kind: "approvals.waiting", severity: "warning", count: waiting.length }];
}

function referenceTo({ kind, uuid, name }: StoredObject) {
  return { kind, uuid, name };
}
