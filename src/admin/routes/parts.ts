/** The dependencies of the routes, and functions that several routes use. */
import type { Access } from "../../access/access.ts";
import type { Account } from "../../access/account.ts";
import { may } from "../../access/may.ts";
import type { OidcLogin } from "../../access/oidc-login.ts";
import type { RefusedCredentials } from "../../access/refused-credentials.ts";
import type { Grants } from "../../authorization/grants.ts";
import type { ApprovalControl } from "../../gateway/approval-control.ts";
import type {
  Changed,
  ComputeChange,
  GatewayControl,
  LayerCatalog,
  PinControl,
} from "../../gateway/control.ts";
import type { InspectorControl } from "../../gateway/inspector-control.ts";
import type { NotifyControl } from "../../gateway/notify-control.ts";
import type { Objects, StoredObject } from "../../gateway/objects.ts";
import { etagOf } from "../../gateway/present.ts";
import type { ProvisioningControl } from "../../gateway/provisioning-control.ts";
import { Refusal } from "../../gateway/refusal.ts";
import type { ChangeOutcome } from "../../gateway/settle.ts";
import type { TryControl } from "../../gateway/try-control.ts";
import type { Events } from "../../kernel/events.ts";
import type { Log } from "../../kernel/log.ts";
import { actorOf, type Principal } from "../../kernel/principal.ts";
import { resultOf } from "../../kernel/steps.ts";
import type { SessionControl } from "../../observe/live/client-session.ts";
import type { ReplicaControl } from "../../observe/live/replica-view.ts";
import type { Observed } from "../../observe/observer.ts";
import type { LoginControl } from "../../server-logins/accounts/login-control.ts";
import type { StoreState } from "../../store/store.ts";
import { withValues } from "../change-values.ts";
import type { InStepControl } from "../in-step-control.ts";
import { type AnnotationsOf, neededActions } from "../needed-actions.ts";
import { Problem } from "../problem.ts";
import type { AdminAnswer, AdminRequest, DRY_RUN, QueryOf, TAKE_OVER } from "../route.ts";
import type { Change, Changes } from "../schemas.ts";

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
  /** Set if other gateways change the same store. */
  readonly inStep?: InStepControl | undefined;
  readonly grants: Pick<Grants, "list" | "revoke">;
  readonly logins: LoginControl;
  /** The address of the gateway for links in browsers. */
  readonly publicUrl: () => string;
  readonly events?: Pick<Events, "emit"> | undefined;
  readonly observed: Observed;
  readonly sessions: SessionControl;
  readonly replicas: ReplicaControl;
  readonly inspector: InspectorControl;
  readonly tries: TryControl;
  readonly pins: PinControl;
  readonly health: GatewayHealth;
  readonly layers: LayerCatalog;
  readonly provisioning: ProvisioningControl;
  readonly approvals: ApprovalControl;
  readonly notices: NotifyControl;
  /** Login at an external identity provider, if one is configured. */
  readonly oidc?: OidcLogin | undefined;
  readonly log?: Log;
}

type DryRun = AdminAnswer<Changes>;

/**
 * Changes the config as the caller, or only computes the changes if `dryRun` is set. Refuses it if any part
 * needs a right that the caller lacks.
 */
export async function change<T extends ChangeOutcome>(
  { control, layers }: AdminParts,
  { principal, query, recordChanges }: AdminRequest<QueryOf<typeof DRY_RUN>>,
  make: ComputeChange<T>,
  summary?: string,
): Promise<(Changed & { readonly outcome: T }) | { readonly dry: DryRun; readonly outcome: T }> {
  const { dryRun = false } = query;
  const options = { dryRun, ...(summary === undefined ? {} : { summary }) };
  let before: Objects | undefined;
  const allowed: ComputeChange<T> = function* (objects, context) {
    before = objects;
    const discreet = !may(principal, "servers.write");
    const outcome = yield* resultOf(make(objects, { ...context, vault: { ...context.vault, discreet } }));
    refuseWithoutRights({ control, layers }, principal, objects, outcome);
    return outcome;
  };
  const changed = await control.change(actorOf(principal), allowed, options).catch((error: unknown) => {
    throw may(principal, "settings") ? error : withoutTests(error);
  });
  const { revision } = changed;
  recordChanges(
    changed.changes.map(({ op, kind, uuid, name }) => ({
      action: op,
      object: { kind, uuid, name },
      revision,
    })),
  );
  if (!dryRun) return changed;
  const { outcome } = changed;
  const changes = before
    ? withValues(changed.changes, [before, outcome.objects], principal)
    : changed.changes;
  return { dry: { status: 200, body: { changes } }, outcome };
}

/** Policy tests are settings: their arguments and the rules around them are for people who may read those. */
function withoutTests(error: unknown): unknown {
  if (!(error instanceof Refusal && error.details.tests)) return error;
  const { tests: _, ...details } = error.details;
  return new Refusal(error.code, error.message, details);
}

/** The answer to a dry run that would change these objects, which are not part of the config. */
export function dryRun(op: Change["op"], kind: Change["kind"], ...names: readonly string[]): DryRun {
  return { status: 200, body: { changes: names.map((name) => ({ op, kind, name })) } };
}

/** Throws 403 if the caller is not an account. */
export function accountOf({ account }: Pick<AdminRequest, "account">): Account {
  if (!account) throw new Problem(403, "this is for accounts: log in, or use a key of an account");
  return account;
}

/** Throws 403 if the caller lacks the right for any part of the change. */
function refuseWithoutRights(
  { control, layers }: Pick<AdminParts, "control" | "layers">,
  principal: Principal,
  before: Objects,
  { objects }: ChangeOutcome,
): void {
  if (may(principal, "settings")) return;
  const annotationsOf = annotationsIn(control);
  const needed = neededActions(before, objects, { annotationsOf, guards: (use) => layers.guards(use) });
  const lacking = needed.filter(({ action }) => !may(principal, action));
  const [first] = lacking;
  if (!first) return;
  const more = lacking.length > 1 ? ` (and ${lacking.length - 1} more)` : "";
  throw new Problem(403, `your role does not allow you to ${first.what}${more}: nothing was changed`);
}

/** Reads the tools of each server once. */
function annotationsIn(control: Pick<GatewayControl, "toolsOf">): AnnotationsOf {
  const known = new Map<string, ReadonlyMap<string, ReturnType<AnnotationsOf>>>();
  const of = (uuid: string) =>
    new Map(control.toolsOf({ kind: "server", uuid }).map(({ tool, annotations }) => [tool, annotations]));
  return (server, tool) => {
    const tools = known.get(server) ?? of(server);
    known.set(server, tools);
    return tools.get(tool);
  };
}

/** `If-Match` and `takeOver`, which every change of an object accepts. */
export function guardsOf({ ifMatch, query: { takeOver = false } }: AdminRequest<QueryOf<typeof TAKE_OVER>>) {
  return { ifMatch, takeOver };
}

export function tagged<T>(object: StoredObject, body: T, more: AdminAnswer<never> = {}): AdminAnswer<T> {
  return { ...more, body, headers: { etag: etagOf(object), ...more.headers } };
}
