/** What a layer of the pipeline is: a name, the options it takes, and what it does to requests, calls and lists. */
import type { Call, Handler, Origin, Trail, Uplink } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ErrorCode } from "../kernel/errors.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Raw } from "../kernel/raw.ts";
import type { Signal } from "../kernel/signal.ts";
import type { ToolFacts } from "../kernel/tool-facts.ts";
import type { Approvals } from "./approvals.ts";

export type { LayerEntry } from "../config/spec.ts";

/** One thing that is wrong, and where within the entry (a JSON Pointer). */
export interface LayerProblem {
  readonly path: string;
  readonly message: string;
}

/** What a client asks of us. */
export interface LayerRequest {
  readonly method: string;
  readonly params: Raw | undefined;
  readonly origin: Origin;
  readonly signal: Signal;
  readonly uplink: Uplink;
  /** Of a call of one of our own tools: which. */
  readonly own?: ToolFacts | undefined;
  /** Given where somebody reads it: which layer refused. */
  readonly trail?: Trail | undefined;
}

export type RequestHandler = (request: LayerRequest) => Promise<Raw>;
/** Refuses by throwing or rejecting. */
export type RequestMiddleware = (next: RequestHandler) => RequestHandler;

/** Judges each tool alone, so no list can grow by it. Pure: the same answer for the same tool and the same key. */
export interface ListRule {
  /** Principals of the same text see the same; one text for all unless given. */
  keyOf?(principal: Principal): string;
  /** Why the tool does not exist for them; undefined where it does. Without a name: a server that has no tools, for its prompts and resources. */
  hides(tool: ToolFacts, principal: Principal): string | undefined;
  /** Why it exists for nobody, whoever asks. Only where there is `keyOf`: without, `hides` says the same to all. */
  hidesFromAll?(tool: ToolFacts): string | undefined;
}

/** A count that calls are taken from. All of a call are looked at before any is taken from. */
export interface Limit {
  /** How long to wait until one more would pass; 0: it passes now. */
  wait(call: Call): number;
  take(call: Call): void;
  /** The call was refused by another limit after this one took it. */
  giveBack(call: Call): void;
}

/** A verdict on one call, made without making it and without counting it. */
export interface Explanation {
  /** "change": it goes on as `call`; "answer": without reaching the server, as a cache does. */
  readonly effect: "allow" | "deny" | "ask" | "approve" | "limit" | "change" | "answer";
  readonly reason: string;
  /** As it would go on. */
  readonly call?: Call;
  /** Of a denial: as what it is answered; `forbidden` unless said. */
  readonly code?: ErrorCode;
}

/** The layers that stand further in, the outermost first: the same objects wherever the same ones do. Those of one's own do not hear of them. */
export type Inside = readonly PlacedLayer[];

export interface Layer {
  readonly request?: RequestMiddleware;
  readonly call?: (next: Handler, inside?: Inside) => Handler;
  readonly limit?: Limit;
  readonly list?: ListRule;
  /** Whether one of our own tools does not exist for them. */
  hidesOwn?(tool: ToolFacts, principal: Principal): boolean;
  /** What stands before a call of this tool, in a few words: a person, an approval, an argument. Undefined: for whoever asks. */
  gates?(tool: ToolFacts, principal: Principal | undefined): string | undefined;
  /** Why this call would not simply pass; undefined where it would. A layer without it cannot tell. */
  explain?(call: Call, inside?: Inside): Explanation | undefined | Promise<Explanation | undefined>;
  /** May answer in place of what is inside: nothing that decides who may do something stands inside of it. */
  readonly answers?: true;
}

export interface LayerContext {
  readonly clock: Clock;
  /** Parks calls for a yes of somebody else; undefined where nobody could be asked. */
  readonly approvals?: Approvals | undefined;
  /** Whether what is done now can be recorded; undefined where nothing is. */
  readonly recordable?: (() => boolean) | undefined;
}

export interface LayerKind {
  /** What it does, in one line. */
  readonly summary?: string;
  /** JSON Schema of the options: an object. Anything else in an entry is refused. */
  readonly schema: { readonly properties: Readonly<Record<string, unknown>> } & Readonly<
    Record<string, unknown>
  >;
  /** What the schema cannot say. */
  check?(options: Readonly<Record<string, unknown>>): readonly LayerProblem[];
  /** What these options need to be loaded; undefined where it is. */
  load?(options: Readonly<Record<string, unknown>>): Promise<unknown> | undefined;
  compile(options: Readonly<Record<string, unknown>>, context: LayerContext): Layer;
  /** Decides who may do something: editors may not touch it, and it stands outside of every cache. */
  readonly guards?: true;
}

/** A layer at its place. One for its object, however many endpoints it is in. */
export interface PlacedLayer extends Layer {
  readonly use: string;
  /** Where its entry stands, in words: `endpoint "dev"`. */
  readonly at: string;
}
