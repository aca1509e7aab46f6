/** The dependencies of the routes, and functions that several routes use. */
import type { Access } from "../../access/access.ts";
import { may } from "../../access/may.ts";
import type { OidcLogin } from "../../access/oidc-login.ts";
import type { RefusedCredentials } from "../../access/refused-credentials.ts";
import type { Grants } from "../../authorization/grants.ts";
import type {
  ApprovalControl,
  Changed,
  ComputeChange,
  GatewayControl,
  InspectorControl,
  LayerCatalog,
  PinControl,
  ProvisioningControl,
} from "../../gateway/control.ts";
import type { Objects, StoredObject } from "../../gateway/objects.ts";
import { etagOf } from "../../gateway/present.ts";
import { invalid } from "../../gateway/refusal.ts";
import { loadValidator, type Validator } from "../../gateway/schema-check.ts";
import type { ChangeOutcome } from "../../gateway/settle.ts";
import type { TryControl } from "../../gateway/try-control.ts";
import type { Events } from "../../kernel/events.ts";
import type { Log } from "../../kernel/log.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { LoginControl } from "../../logins/login-control.ts";
import type { SessionControl } from "../../observe/live/client-session.ts";
import type { Observed } from "../../observe/observer.ts";
import type { StoreState } from "../../store/store.ts";
import { actorOf } from "../authenticate.ts";
import { neededActions } from "../needed-actions.ts";
import { Problem } from "../problem.ts";
import type { AdminAnswer, AdminRequest, Schema } from "../route.ts";

/** The path prefix of all routes. */
export const BASE = "/api/v1";

/** The state of the gateway itself. */
export interface GatewayHealth {
  /** Whether other machines can reach it. */
  readonly exposed: boolean;
  readonly store: () => StoreState;
}

export interface AdminParts {
  readonly control: GatewayControl;
  readonly access: Access;
  /** Counts and limits refused credentials. */
  readonly refused?: RefusedCredentials | undefined;
  readonly grants: Pick<Grants, "list" | "revoke">;
  readonly logins: LoginControl;
  /** The address of the gateway for links in browsers. */
  readonly publicUrl: () => string;
  readonly events?: Pick<Events, "emit"> | undefined;
  readonly observed: Observed;
  readonly sessions: SessionControl;
  readonly inspector: InspectorControl;
  readonly tries: TryControl;
  readonly pins: PinControl;
  readonly health: GatewayHealth;
  readonly layers: LayerCatalog;
  readonly provisioning: ProvisioningControl;
  readonly approvals: ApprovalControl;
  /** Login at an external identity provider, if one is configured. */
  readonly oidc?: OidcLogin | undefined;
  readonly log?: Log;
}

export function isOn(query: URLSearchParams, name: string): boolean {
  return query.get(name) === "true";
}

/** Changes the config as the caller, or only computes the changes if `dryRun` is set. Refuses it if any part needs a right that the caller lacks. */
export async function change<T extends ChangeOutcome>(
  { control, layers }: AdminParts,
  { principal, query, recordChanges }: AdminRequest,
  make: ComputeChange<T>,
  summary?: string,
): Promise<(Changed & { readonly outcome: T }) | { readonly dry: AdminAnswer; readonly outcome: T }> {
  const dryRun = isOn(query, "dryRun");
  const options = { dryRun, ...(summary === undefined ? {} : { summary }) };
  const allowed: ComputeChange<T> = (objects, context) => {
    const discreet = !may(principal, "servers.write");
    const outcome = make(objects, { ...context, vault: { ...context.vault, discreet } });
    refuseWithoutRights({ control, layers }, principal, objects, outcome);
    return outcome;
  };
  const changed = await control.change(actorOf(principal), allowed, options);
  const { revision } = changed;
  recordChanges(
    changed.changes.map(({ op, kind, uuid, name }) => ({
      action: op,
      object: { kind, uuid, name },
      revision,
    })),
  );
  if (!dryRun) return changed;
  return { dry: { status: 200, body: { changes: changed.changes } }, outcome: changed.outcome };
}

/** Throws 403 if the caller lacks the right for any part of the change. */
function refuseWithoutRights(
  { control, layers }: Pick<AdminParts, "control" | "layers">,
  principal: Principal,
  before: Objects,
  { objects }: ChangeOutcome,
): void {
  if (may(principal, "settings")) return;
  const annotationsOf = (server: string, tool: string) =>
    control.toolsOf({ kind: "server", uuid: server }).find((row) => row.tool === tool)?.annotations;
  const needed = neededActions(before, objects, { annotationsOf, guards: (use) => layers.guards(use) });
  const lacking = needed.filter(({ action }) => !may(principal, action));
  const [first] = lacking;
  if (!first) return;
  const more = lacking.length > 1 ? ` (and ${lacking.length - 1} more)` : "";
  throw new Problem(403, `your role does not allow you to ${first.what}${more}: nothing was changed`);
}

/** `If-Match` and `takeOver`, which every change of an object accepts. */
export function guardsOf({ ifMatch, query }: AdminRequest) {
  return { ifMatch, takeOver: isOn(query, "takeOver") };
}

export function tagged(object: StoredObject, body: unknown, more: AdminAnswer = {}): AdminAnswer {
  return { ...more, body, headers: { etag: etagOf(object), ...more.headers } };
}

let validator: Promise<Validator> | undefined;

/** Validates the body and fills in defaults. Throws a Refusal that lists the errors. */
export async function checkedBody<T>(schema: Schema, body: unknown): Promise<T> {
  validator ??= loadValidator();
  const checked = (await validator)(schema, body ?? null);
  if ("value" in checked) return checked.value as T;
  throw invalid(checked);
}
