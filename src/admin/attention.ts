/** Lists the current problems that a principal may see, worst first. Reads only memory, not the store. */
import { may } from "../access/may.ts";
import type { GatewayControl } from "../gateway/control.ts";
import type { Static } from "../gateway/json-schema.ts";
import type { StoredObject } from "../gateway/objects.ts";
import { isSecretText } from "../kernel/looks-secret.ts";
import type { Principal } from "../kernel/principal.ts";
import type { ATTENTION_ITEM } from "./attention-schemas.ts";
import type { AdminParts } from "./routes/parts.ts";
import { shownTo } from "./server-output.ts";

export type AttentionItem = Static<typeof ATTENTION_ITEM>;

const DAY_MS = 86_400_000;
const SOON_MS = 7 * DAY_MS;
const SEVERITIES = ["error", "warning", "info"] as const satisfies readonly AttentionItem["severity"][];

export type AttentionParts = Pick<
  AdminParts,
  "control" | "observed" | "access" | "approvals" | "pins" | "health"
>;

export function attentionFor(
  parts: AttentionParts,
  principal: Principal,
  { now, requests }: { readonly now: number; readonly requests: number },
): readonly AttentionItem[] {
  const items = [
    ...(may(principal, "stats.read") ? [...storeItems(parts), ...auditItems(parts)] : []),
    ...(may(principal, "objects.read") ? [...serverItems(parts, principal), ...endpointItems(parts)] : []),
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

function auditItems({ observed }: AttentionParts): readonly AttentionItem[] {
  const { lost, fault } = observed.audit.state;
  return [
    ...(fault === undefined ? [] : [{ kind: "audit.fault", severity: "error", reason: fault } as const]),
    ...(lost === 0 ? [] : [{ kind: "audit.lost", severity: "error", count: lost } as const]),
  ];
}

function serverItems(parts: AttentionParts, principal: Principal): readonly AttentionItem[] {
  return [...parts.control.compiled.objects.server.values()].flatMap((server) => [
    ...statusItems(parts.control, server, principal),
    ...secretItems(server),
    ...changedToolItems(parts, server),
  ]);
}

function statusItems(
  control: GatewayControl,
  server: StoredObject<"server">,
  principal: Principal,
): readonly AttentionItem[] {
  const { state, reason, since, needsLogin } = shownTo(principal, control.statusOf(server.uuid));
  if (state !== "failed") return [];
  const misconfigured = control.compiled.servers.get(server.uuid)?.reason !== undefined;
  const kind = misconfigured ? "server.misconfigured" : needsLogin ? "server.login" : "server.failed";
  const why = { ...(reason !== undefined && { reason }), ...(since !== undefined && { since }) };
  return [{ kind, severity: "error", object: referenceTo(server), ...why }];
}

/** Arguments and URLs that were stored before they were sealed, or that only look like a secret. */
function secretItems(server: StoredObject<"server">): readonly AttentionItem[] {
  const { args = [], url } = server.spec;
  const plain = [
    ...args.map((text, at) => [`args/${at}`, text] as const),
    ...(url === undefined ? [] : [["url", url] as const]),
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
  if (changes.length === 0) return [];
  const severity = pins.enforced ? "warning" : "info";
  return [{ kind: "tools.changed", severity, object: referenceTo(server), count: changes.length }];
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
