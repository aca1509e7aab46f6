/**
 * The interface for calling tools of an endpoint as a client would, from the admin API: requests, events and
 * answers.
 */
import {
  ANY_OBJECT,
  COUNT,
  list,
  named,
  object,
  type Properties,
  type Static,
  TEXT,
  TEXTS,
} from "../kernel/json-schema.ts";
import type { Principal } from "../kernel/principal.ts";
import { COST } from "../kernel/tokens.ts";
import type { ExplainRequest } from "./endpoint/explain-tool.ts";
import type { Explained } from "./endpoint/explanation.ts";

/**
 * A tool by its name on the surface of the endpoint, or by server and tool. The resulting call is one that a
 * client could make.
 */
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

const REQUEST = object({
  method: { const: "tools/call" },
  params: object({ name: TEXT, arguments: ANY_OBJECT }),
});
/** The request that a client of the endpoint would send. */
export type TriedRequest = Static<typeof REQUEST>;

const QUESTION = object({
  id: TEXT,
  kind: { enum: ["form", "url", "sampling"] },
  params: { description: "as the server sent it: message and requestedSchema, url, or messages" },
});
/** A question of a server or layer to the person or model at the client. */
export type TryQuestion = Static<typeof QUESTION>;

/** As the server sent it. */
function notice<const T extends string, const P extends Properties>(type: T, properties: P) {
  return {
    type: "object",
    properties: { type: { const: type }, ...properties },
    required: ["type"],
  } as const;
}

export const RUNNING_EVENTS = [
  object({
    type: { const: "begun" },
    id: { ...TEXT, description: "id for POST /endpoints/{uuid}/try/{id}/answers" },
    request: { ...REQUEST, description: "the request that a client of this endpoint would send" },
  }),
  notice("progress", { progress: { type: "number" }, total: { type: "number" }, message: TEXT }),
  notice("log", { level: TEXT, logger: TEXT, data: {} }),
  object({ type: { const: "question" }, question: QUESTION }),
  {
    ...object({ type: { const: "withdrawn" }, id: TEXT }),
    description: "the question is no longer open",
  },
] as const;

const ERROR = object({ code: { type: "integer" }, message: TEXT }, { data: {} });
/** A JSON-RPC error. */
export type TryError = Static<typeof ERROR>;

export const RESULT_EVENT = object({
  type: { const: "result" },
  result: { ...ANY_OBJECT, description: "the CallToolResult; isError if it failed" },
});
export const ERROR_EVENT = object({
  type: { const: "error" },
  error: { ...ERROR, description: "of JSON-RPC" },
});

/** `calls` are the ids of the recorded calls. The last one is the tried call itself. */
export type TryEnding = Static<typeof RESULT_EVENT | typeof ERROR_EVENT> & {
  readonly calls: readonly number[];
};

export type TryEvent = Static<(typeof RUNNING_EVENTS)[number]> | TryEnding;

export const TRY_ANSWER = named(
  "TryAnswer",
  object(
    {
      question: { ...TEXT, description: "its id" },
      action: { enum: ["accept", "decline", "cancel"] },
    },
    {
      content: { ...ANY_OBJECT, description: "for a form: its fields" },
      text: { ...TEXT, description: "for sampling: the answer of the model" },
    },
  ),
);
export type TryAnswer = Static<typeof TRY_ANSWER>;

/** A running call. */
export interface RunningTry {
  readonly id: string;
  /**
   * Calls `report` with every event. The last one is a result or an error, unless the call is ended before.
   */
  run(report: (event: TryEvent) => void): void;
  /** Cancels the call. */
  end(): void;
}

export const PREVIEW = object({
  surface: { enum: ["meta", "metatools", "aggregate"] },
  instructions: object({ text: TEXT, ...COST }),
  tools: list(object({ definition: { ...ANY_OBJECT, description: "as in tools/list" }, ...COST })),
  total: { ...object(COST), description: "tools and instructions" },
  full: {
    ...object({ tools: COUNT, ...COST }),
    description: "cost of all reachable tools if they were listed",
  },
  prompts: COUNT,
  resources: COUNT,
  templates: COUNT,
  unknown: {
    ...TEXTS,
    description: "servers that never connected: their tools are not counted in full",
  },
  unavailable: list(object({ server: TEXT, reason: TEXT })),
  missing: {
    ...list(object({ id: { ...TEXT, description: "server:tool" }, reason: TEXT })),
    description: "pinned tools that are not listed",
  },
});
/** What a client of the endpoint sees. */
export type Preview = Static<typeof PREVIEW>;

export interface TryControl {
  /** Explains a call without making it. Undefined if the endpoint is not served. */
  explain(endpoint: string, principal: Principal, request: ExplainRequest): Promise<Explained> | undefined;
  /** Undefined if the endpoint is not served. */
  preview(endpoint: string, principal: Principal): Promise<Preview> | undefined;
  /**
   * Opens a session at the endpoint. Throws MetaMcpError if its limits are reached. Undefined if the endpoint
   * is not served.
   */
  open(request: TryRequest): RunningTry | undefined;
  /**
   * The page of an app, as HTML. `server` is its name at the endpoint. Rejects with RpcError. Throws like
   * `open`.
   */
  page(
    endpoint: string,
    principal: Principal,
    page: { readonly server: string; readonly uri: string },
  ): Promise<string> | undefined;
  /**
   * "unknown": the principal has no such call. "answered": the question is no longer open. `elsewhere`: the
   * replica that the id names.
   */
  answer(
    id: string,
    by: Principal,
    answer: TryAnswer,
  ): "done" | "unknown" | "answered" | { readonly elsewhere: string };
}
