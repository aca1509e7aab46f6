/** The interface of a layer of the pipeline: its options, and what it does to requests, calls and lists. */
import type { Call, Handler, Origin, Trail, Uplink } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { SharedCounts } from "../kernel/counts.ts";
import type { ErrorCode } from "../kernel/errors.ts";
import type { FieldProblem } from "../kernel/field-problem.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Raw } from "../kernel/raw.ts";
import type { Signal } from "../kernel/signal.ts";
import type { ToolFacts } from "../kernel/tool-facts.ts";
import type { Approvals } from "./approvals.ts";
import type { ReadStore } from "./read-log.ts";

export type { LayerEntry } from "../config/spec.ts";

/** A request of a client, including calls of our own tools. */
export interface LayerRequest {
  readonly method: string;
  readonly params: Raw | undefined;
  readonly origin: Origin;
  readonly signal: Signal;
  readonly uplink: Uplink;
  /** The tool, if one of our own tools is called. */
  readonly own?: ToolFacts | undefined;
  /** Set if the call is recorded; gets the name of the layer that refused. */
  readonly trail?: Trail | undefined;
}

export type RequestHandler = (request: LayerRequest) => Promise<Raw>;
/** Refuses by throwing or rejecting. */
export type RequestMiddleware = (next: RequestHandler) => RequestHandler;

/**
 * Decides about each tool on its own, so it cannot add tools to a list. Pure: the same result for the same
 * tool and the same key.
 */
export interface ListRule {
  /** Principals with the same key see the same tools. Without this function all principals do. */
  keyOf?(principal: Principal): string;
  /**
   * Returns why the tool does not exist for the principal; undefined if it exists. An empty tool name stands
   * for a server without tools, and decides about its prompts and resources.
   */
  hides(tool: ToolFacts, principal: Principal): string | undefined;
  /**
   * Whether no tool of the server can exist for the principal, whatever its name is: the server does not
   * exist then. In doubt false.
   */
  hidesServer?(server: ToolFacts, principal: Principal): boolean;
  /**
   * Returns why the tool is hidden from every principal. Needed only beside `keyOf`: without it `hides` is
   * the same for all.
   */
  hidesFromAll?(tool: ToolFacts): string | undefined;
}

/**
 * A limit that calls are counted against. The pipeline checks all limits of a call before it counts the call
 * in any of them.
 */
export interface Limit {
  /** As in `Rate`. */
  ready?(call: Call): Promise<void> | undefined;
  /** Returns how long (ms) to wait until the call would pass; 0 if it passes now. */
  wait(call: Call): number;
  take(call: Call): unknown;
  /** Undoes `take`, because another limit refused the call. */
  giveBack(call: Call, taken: unknown): void;
}

/** What a layer would do to a call. The call is neither made nor counted. */
/** "change": the layer passes on `call`. "answer": the layer answers without the server, as a cache does. */
export const EFFECTS = ["allow", "deny", "ask", "approve", "limit", "change", "answer"] as const;

export interface Explanation {
  readonly effect: (typeof EFFECTS)[number];
  readonly reason: string;
  /** The call that the layer would pass on. */
  readonly call?: Call;
  /** The error code of a denial. Default: `forbidden`. */
  readonly code?: ErrorCode;
}

/**
 * The layers inside of this one, outermost first. Equal lists of layers have identical objects. The
 * operator's own layers do not get this list.
 */
export type Inside = readonly PlacedLayer[];

export interface Layer {
  readonly request?: RequestMiddleware;
  readonly call?: (next: Handler, inside?: Inside) => Handler;
  readonly limit?: Limit;
  readonly list?: ListRule;
  /** Whether one of our own tools is hidden from the principal. */
  hidesOwn?(tool: ToolFacts, principal: Principal): boolean;
  /**
   * A short text about what a call of this tool needs: consent, an approval, certain arguments. If
   * `principal` is undefined, the text holds for everybody.
   */
  gates?(tool: ToolFacts, principal: Principal | undefined): string | undefined;
  /** The arguments as the layer would pass them on, for records of calls that never got here. Quick. */
  masks?(args: Raw): Raw;
  /** Undefined if the call would simply pass. The effect of a layer without this function is unknown. */
  explain?(call: Call, inside?: Inside): Explanation | undefined | Promise<Explanation | undefined>;
  /** A call may wait here for other calls. It is judged again if anything changes meanwhile. */
  readonly waits?: boolean;
  /** As in its kind. */
  readonly answers?: true;
}

export interface Recording {
  /** Whether the audit log can be written now. */
  isReady(): boolean;
  /** Resolves when the log contains that this call begins. Rejects if that is not possible. */
  begin(call: Call): Promise<void>;
}

export interface LayerContext {
  readonly clock: Clock;
  /** Holds calls until somebody approves them; undefined if nobody can approve. */
  readonly approvals?: Approvals | undefined;
  /** The audit log; undefined without one. */
  readonly recording?: Recording | undefined;
  /** Keeps what callers read beyond this process; undefined without a store. */
  readonly reads?: ReadStore | undefined;
  /** The id of the object whose list has the entry. */
  readonly place?: string;
  /** The counts of all replicas; undefined for a process that is alone. */
  readonly shared?: { readonly counts: SharedCounts; readonly place: string } | undefined;
}

export interface LayerKind {
  /** One line for the documentation and the console. */
  readonly summary?: string;
  /** JSON Schema of the options, an object. Other keys of an entry are refused. */
  readonly schema: { readonly properties: Readonly<Record<string, unknown>> } & Readonly<
    Record<string, unknown>
  >;
  /** Checks that the schema cannot express. */
  check?(options: Readonly<Record<string, unknown>>): readonly FieldProblem[];
  /** Loads what these options need; undefined if nothing has to be loaded. */
  load?(options: Readonly<Record<string, unknown>>): Promise<unknown> | undefined;
  compile(options: Readonly<Record<string, unknown>>, context: LayerContext): Layer;
  /**
   * The layer guards access or data: editors may not change it, and it must be outside of every layer that
   * answers.
   */
  readonly guards?: true;
  /** A guarding layer that may be inside of one that answers: its work is done when an answer is kept. */
  readonly mayBeInside?: true;
  /** The layer may answer without the layers inside of it. */
  readonly answers?: true;
}

/**
 * A compiled layer with its place in the configuration. An object has one, even if several endpoints use it.
 */
export interface PlacedLayer extends Layer {
  readonly use: string;
  /** The object whose list has the entry: `endpoint "dev"`. */
  readonly at: string;
}
