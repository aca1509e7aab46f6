/** Endpoints tried out as a client would use them: what the admin API asks for, and what it hears. */
import type { Principal } from "../kernel/principal.ts";
import type { Cost } from "../kernel/tokens.ts";
import type { Explained, ExplainWanted } from "./endpoint/explain-tool.ts";

/** A tool by the name that the surface of the endpoint gives it, or by its server; either way the call is one that a client could make. */
export type TriedTool =
  | { readonly name: string }
  /** Both by the names that they have at the endpoint. */
  | { readonly server: string; readonly tool: string };

export interface TryWanted {
  /** uuid. */
  readonly endpoint: string;
  readonly principal: Principal;
  readonly tool: TriedTool;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What a client of the endpoint would send. */
export interface TriedRequest {
  readonly method: "tools/call";
  readonly params: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
}

/** A question of a server or a layer to the person, or to the model at the client. */
export interface TryQuestion {
  readonly id: string;
  readonly kind: "form" | "url" | "sampling";
  /** As it was asked: `message` and `requestedSchema`, `url`, or `messages`. */
  readonly params: unknown;
}

export type TryEvent =
  | { readonly type: "begun"; readonly id: string; readonly request: TriedRequest }
  | { readonly type: "progress"; readonly params: unknown }
  | { readonly type: "log"; readonly params: unknown }
  | { readonly type: "question"; readonly question: TryQuestion }
  /** Nobody waits for its answer any more. */
  | { readonly type: "withdrawn"; readonly id: string }
  | TryEnding;

/** `calls`: ids of the calls that were recorded, the one that was tried last. */
export type TryEnding =
  | { readonly type: "result"; readonly result: unknown; readonly calls: readonly number[] }
  | { readonly type: "error"; readonly error: TryError; readonly calls: readonly number[] };

/** Of JSON-RPC. */
export interface TryError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface TryAnswer {
  /** Id of the question. */
  readonly question: string;
  readonly action: "accept" | "decline" | "cancel";
  /** Of a form: its fields. */
  readonly content?: Readonly<Record<string, unknown>>;
  /** Of sampling: what the model says. */
  readonly text?: string;
}

/** A call that is under way. */
export interface Tried {
  readonly id: string;
  /** `tell` hears all of it, ending with a result or an error, unless it is ended before. */
  run(tell: (event: TryEvent) => void): void;
  /** Cancels what is under way. */
  end(): void;
}

/** What a client of the endpoint is shown. */
export interface Preview {
  /** The one that it gets, where the endpoint decides by itself. */
  readonly surface: "meta" | "metatools" | "aggregate";
  readonly instructions: Cost & { readonly text: string };
  /** The list as the client gets it. */
  readonly tools: readonly (Cost & { readonly definition: unknown })[];
  /** Tools and instructions together: paid for in every conversation. */
  readonly total: Cost;
  /** All tools that it can reach, were they listed one by one. */
  readonly full: Cost & { readonly tools: number };
  readonly prompts: number;
  readonly resources: number;
  readonly templates: number;
  /** Servers that never told what they have: their tools are not counted in `full`. */
  readonly unknown: readonly string[];
  /** Servers whose tools are missing, and why. */
  readonly unavailable: readonly { readonly server: string; readonly reason: string }[];
}

export interface TryControl {
  /** What would become of a call, and why; nothing is done. Undefined: the endpoint is not served. */
  explain(endpoint: string, principal: Principal, wanted: ExplainWanted): Promise<Explained> | undefined;
  /** Undefined: the endpoint is not served. */
  preview(endpoint: string, principal: Principal): Promise<Preview> | undefined;
  /** Opens a session of the endpoint. Throws MetaMcpError where there is no room; undefined: the endpoint is not served. */
  open(wanted: TryWanted): Tried | undefined;
  /** "unknown": there is no such call of theirs; "answered": the question is not open any more. */
  answer(id: string, by: Principal, answer: TryAnswer): "done" | "unknown" | "answered";
}
