/** The interface through which the admin API reads and changes a running gateway. */
import type { PinGate } from "../catalog/pins/pin-gate.ts";
import { BOOLEAN, COUNT, DATE, named, object, type Static, TEXT } from "../kernel/json-schema.ts";
import type { Actor, Principal } from "../kernel/principal.ts";
import type { Revision } from "../kernel/revision.ts";
import { CONNECTION_STATES, CONNECTION_STEPS } from "../kernel/server-status.ts";
import type { Steps } from "../kernel/steps.ts";
import type { LayerRegistry } from "../middleware/registry.ts";
import type { Compiled } from "./compile.ts";
import type { Objects } from "./objects.ts";
import type { NamedTest } from "./policy-test.ts";
import type { ChangeContext, ChangeOutcome, ChangeRow } from "./settle.ts";
import type { TestResult } from "./test-result.ts";
import type { ToolRow } from "./view/tool-row.ts";
import type { TableRow } from "./view/tool-table.ts";

const LAST_FAILURE = object(
  { since: { ...DATE, description: "when it failed first since it was last reached" }, reason: TEXT },
  { replica: { ...TEXT, description: "the replica that saw it, where there may be several" } },
);

export const CONNECTION = named(
  "Connection",
  object(
    { state: { enum: [...CONNECTION_STATES, "disabled"] }, connected: BOOLEAN, toolCount: COUNT },
    {
      reason: TEXT,
      retryAfterMs: COUNT,
      since: { ...DATE, description: "since when, if it changed since the gateway started" },
      lastFailure: {
        ...LAST_FAILURE,
        description: "why it failed when it was last tried, if it was not tried since the gateway started",
      },
      needsLogin: { const: true, description: "it is down until somebody logs in" },
      replica: { ...TEXT, description: 'the replica that runs it, if its placement is "one"' },
      touches: { ...TEXT, description: "what a local server may touch, by its sandbox" },
      instances: { ...COUNT, description: "number of running processes, if it may have several" },
    },
  ),
);

export const STATUS_ENTRY = named(
  "StatusEntry",
  object(
    { at: DATE, state: { enum: CONNECTION_STEPS } },
    {
      reason: TEXT,
      pid: COUNT,
      login: { ...BOOLEAN, description: "it failed because it requires login" },
    },
  ),
);

interface WithOutput {
  /** What the process printed before it failed. Only for who may read the output of servers. */
  readonly output?: string;
}

/** The state of the connection to a server. */
export type ConnectionStatus = Static<typeof CONNECTION> & WithOutput;

/** A change of state of a connection to a server. */
export type StatusEntry = Static<typeof STATUS_ENTRY> & WithOutput;

export interface Changed {
  /** The new revision; the current one if nothing changed or for a dry run. */
  readonly revision: number;
  readonly changes: readonly ChangeRow[];
  /** By uuid: servers whose connection settings changed, after reconnecting (at most 10 s). */
  readonly connections: ReadonlyMap<string, ConnectionStatus>;
  /** Uuids of the namespaces that were compiled again. */
  readonly namespaces: readonly string[];
}

/**
 * A pure function that makes a change, as in `changes.ts`, `import-servers.ts` and `document/`. Throws a
 * Refusal.
 */
export type ComputeChange<T extends ChangeOutcome> = (
  objects: Objects,
  context: ChangeContext,
) => T | Steps<T>;

export { LAYER_DESCRIPTION } from "../middleware/layer-description.ts";

/** All available layers. */
export type LayerCatalog = Pick<LayerRegistry, "describe" | "guards">;

/** The approved tools of servers. */
export type PinControl = Pick<PinGate, "enforced" | "review" | "approve" | "signs" | "approveSigns">;

/** An object that has tools. */
export interface ToolPlace {
  readonly kind: "server" | "namespace" | "endpoint";
  readonly uuid: string;
}

type Definition = Readonly<Record<string, unknown>>;

export interface ToolDefinitions {
  /** As the object shows the tool; undefined while the server has not listed it. */
  readonly definition?: Definition;
  /** As the server lists it, if that differs. */
  readonly own?: Definition;
}

export interface GatewayControl {
  readonly revision: number;
  readonly compiled: Compiled;
  /**
   * Stores the change as one revision and applies it, or changes nothing. Changes run one after the other. If
   * another gateway on the same store made a revision meanwhile, the change is made again on top of it.
   * Rejects with Refusal or StoreError.
   */
  change<T extends ChangeOutcome>(
    actor: Actor,
    make: ComputeChange<T>,
    options?: { readonly dryRun?: boolean; readonly summary?: string },
  ): Promise<Changed & { readonly outcome: T }>;
  /**
   * Judges these calls, by default the stored policy tests, by the config or by the one that a change would
   * make. Changes nothing.
   */
  judge(tests?: readonly NamedTest[], make?: ComputeChange<ChangeOutcome>): Promise<readonly TestResult[]>;
  /** Newest first. */
  revisions(page?: { readonly before?: number; readonly limit?: number }): Promise<readonly Revision[]>;
  /** A revision with the objects right after it. */
  revisionAt(n: number): Promise<(Revision & { readonly objects: Objects }) | undefined>;
  statusOf(server: string): ConnectionStatus;
  /** The last state changes of its connections, newest first. */
  historyOf(server: string): readonly StatusEntry[];
  /** Replaces the connection, even if the server is connected. */
  connect(server: string): Promise<ConnectionStatus>;
  /** `as` is the principal to judge for. Without it the rows show what holds for everybody. */
  toolsOf(place: ToolPlace, as?: Principal): readonly ToolRow[];
  /** The definitions of a tool that `toolsOf` returned. */
  definitionsOf(place: ToolPlace, row: Pick<ToolRow, "server" | "tool">): ToolDefinitions;
  /** All tools of all servers, with their state in each namespace. */
  toolTable(): readonly TableRow[];
  /** The last lines of a server's stderr, secrets masked. */
  logsOf(server: string): readonly { readonly at: number; readonly text: string }[];
}
