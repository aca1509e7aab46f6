/** One operation of the admin API. The table of all routes serves requests and describes itself as OpenAPI. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Account, Role } from "../access/account.ts";
import { type Action, MATRIX } from "../access/may.ts";
import type { AdminChange } from "../kernel/events.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Signal } from "../kernel/signal.ts";

export type Schema = Readonly<Record<string, unknown>>;

export interface AdminRequest {
  readonly principal: Principal;
  /** Of whoever came as one. */
  readonly account: Account | undefined;
  /** Where it comes from. */
  readonly address: string;
  readonly headers: IncomingHttpHeaders;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Parsed, not checked. */
  readonly body: unknown;
  readonly ifMatch: string | undefined;
  /** What was done, where the request does not say all of it: told to whoever keeps records. */
  readonly did: (acts: readonly Act[]) => void;
  readonly accept: string;
  /** Aborted once the caller is gone. */
  readonly signal: Signal;
}

/** Who reads a stream, as they are at the moment; undefined once they may not. */
export type StreamReader = () => Principal | undefined;

export type Act = Pick<AdminChange, "action" | "object" | "revision">;

export interface AdminAnswer {
  readonly status?: number;
  readonly body?: unknown;
  /** In place of `body`: a text of this type. */
  readonly text?: { readonly type: string; readonly content: string };
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** In place of all that: server-sent events for as long as the caller may see them. Returns what ends it. */
  readonly events?: (outlet: ServerResponse, who: StreamReader) => () => void;
}

export type Route = RouteFields & ({ readonly action: Action } | { readonly role: Role });

interface RouteFields {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Below `/api/v1`; `:name` is a parameter. */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  readonly query?: Readonly<Record<string, Schema>>;
  /** What others append to the address is none of our business. */
  readonly anyQuery?: true;
  /** What the body must look like. */
  readonly body?: Schema;
  /** Content types of the body, JSON unless said. */
  readonly types?: readonly string[];
  readonly status?: number;
  readonly answer?: Schema;
  /** Content types of the answer, JSON unless said. */
  readonly answerTypes?: readonly string[];
  handle(request: AdminRequest): Promise<AdminAnswer> | AdminAnswer;
}

/** The least that the caller must be. */
export function leastOf(route: Route): Role | "anyone" {
  return "role" in route ? route.role : MATRIX[route.action].least;
}

/** Parameters of every list. */
export const LIST_QUERY = {
  limit: { type: "integer", minimum: 1, maximum: 500, default: 100 },
  cursor: { type: "string", description: "nextCursor of the page before" },
  q: { type: "string", description: "only items with this text in the name or description" },
} as const;

export const DRY_RUN = {
  dryRun: { type: "boolean", description: "return the changes without making them" },
} as const;

export const TAKE_OVER = {
  takeOver: { type: "boolean", description: "change an object that a file manages; then the API manages it" },
} as const;

export const FORCE = {
  force: { type: "boolean", description: "also remove it from all objects that use it" },
} as const;
