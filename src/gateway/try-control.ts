/** The interface for calling tools of an endpoint as a client would, from the admin API: requests, events and answers. */
import type { Principal } from "../kernel/principal.ts";
import type { Cost } from "../kernel/tokens.ts";
import type { Explained, ExplainRequest } from "./endpoint/explain-tool.ts";

/** A tool by its name on the surface of the endpoint, or by server and tool. The resulting call is one that a client could make. */
export type TriedTool =
  | { readonly name: string }
  /** By their names at the endpoint. */
  | { readonly server: string; readonly tool: string };

export interface TryRequest {
  /** uuid. */
  readonly endpoint: string;
  readonly principal: Principal;
  readonly tool: TriedTool;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The request that a client of the endpoint would send. */
export interface TriedRequest {
  readonly method: "tools/call";
  readonly params: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
}

/** A question of a server or layer to the person or model at the client. */
export interface TryQuestion {
  readonly id: string;
  readonly kind: "form" | "url" | "sampling";
  /** The params of the question: `message` and `requestedSchema`, `url`, or `messages`. */
  readonly params: unknown;
}

export type TryEvent =
  | { readonly type: "begun"; readonly id: string; readonly request: TriedRequest }
  | { readonly type: "progress"; readonly params: unknown }
  | { readonly type: "log"; readonly params: unknown }
  | { readonly type: "question"; readonly question: TryQuestion }
  /** The question is no longer open. */
  | { readonly type: "withdrawn"; readonly id: string }
  | TryEnding;

/** `calls` are the ids of the recorded calls. The last one is the tried call itself. */
export type TryEnding =
  | { readonly type: "result"; readonly result: unknown; readonly calls: readonly number[] }
  | { readonly type: "error"; readonly error: TryError; readonly calls: readonly number[] };

/** A JSON-RPC error. */
export interface TryError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface TryAnswer {
  /** Id of the question. */
  readonly question: string;
  readonly action: "accept" | "decline" | "cancel";
  /** The fields of a form. */
  readonly content?: Readonly<Record<string, unknown>>;
  /** For sampling: the text of the model. */
  readonly text?: string;
}

/** A running call. */
export interface RunningTry {
  readonly id: string;
  /** Calls `report` with every event. The last one is a result or an error, unless the call is ended before. */
  run(report: (event: TryEvent) => void): void;
  /** Cancels the call. */
  end(): void;
}

/** What a client of the endpoint sees. */
export interface Preview {
  /** The actual surface, if the endpoint has `auto`. */
  readonly surface: "meta" | "metatools" | "aggregate";
  readonly instructions: Cost & { readonly text: string };
  /** The tool list that the client gets. */
  readonly tools: readonly (Cost & { readonly definition: unknown })[];
  /** The cost of tools and instructions in every conversation. */
  readonly total: Cost;
  /** The cost if all reachable tools were listed. */
  readonly full: Cost & { readonly tools: number };
  readonly prompts: number;
  readonly resources: number;
  readonly templates: number;
  /** Servers whose tools are unknown. They are not counted in `full`. */
  readonly unknown: readonly string[];
  /** Servers whose tools are missing, with the reason. */
  readonly unavailable: readonly { readonly server: string; readonly reason: string }[];
}

export interface TryControl {
  /** Explains a call without making it. Undefined if the endpoint is not served. */
  explain(endpoint: string, principal: Principal, request: ExplainRequest): Promise<Explained> | undefined;
  /** Undefined if the endpoint is not served. */
  preview(endpoint: string, principal: Principal): Promise<Preview> | undefined;
  /** Opens a session at the endpoint. Throws MetaMcpError if its limits are reached. Undefined if the endpoint is not served. */
  open(request: TryRequest): RunningTry | undefined;
  /** "unknown": the principal has no such call. "answered": the question is no longer open. */
  answer(id: string, by: Principal, answer: TryAnswer): "done" | "unknown" | "answered";
}
