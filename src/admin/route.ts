/** Types of the routes of the admin API. The same table of routes serves requests and is described as OpenAPI. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Account, Role } from "../access/account.ts";
import { type Action, MATRIX } from "../access/may.ts";
import type { AdminChange } from "../kernel/events.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Signal } from "../kernel/signal.ts";

export type Schema = Readonly<Record<string, unknown>>;

export interface AdminRequest {
  readonly principal: Principal;
  /** The account of the session or of the key, if there is one. */
  readonly account: Account | undefined;
  /** Network address of the client. */
  readonly address: string;
  readonly headers: IncomingHttpHeaders;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Parsed, not validated. */
  readonly body: unknown;
  readonly ifMatch: string | undefined;
  /** Sets the changes to record in the audit log. Without it, the change is derived from the path and the response. */
  readonly recordChanges: (changes: readonly RecordedChange[]) => void;
  readonly accept: string;
  /** Aborted when the client disconnects. */
  readonly signal: Signal;
}

/** Authenticates the reader of a stream again. Undefined if the reader is no longer allowed to read it. */
export type StreamReader = () => Principal | undefined;

export type RecordedChange = Pick<AdminChange, "action" | "object" | "revision">;

export interface AdminAnswer {
  readonly status?: number;
  readonly body?: unknown;
  /** Text of this content type, instead of `body`. */
  readonly text?: { readonly type: string; readonly content: string };
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Starts a stream of server-sent events, instead of a body. Returns a function that ends it. */
  readonly events?: (response: ServerResponse, reader: StreamReader) => () => void;
}

export type Route = RouteFields & ({ readonly action: Action } | { readonly role: Role });

interface RouteFields {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Below `/api/v1`; `:name` is a parameter. */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  readonly query?: Readonly<Record<string, Schema>>;
  /** Accepts unknown query parameters, e.g. those that an identity provider adds. */
  readonly anyQuery?: true;
  readonly body?: Schema;
  /** Content types of the body. Default: JSON. */
  readonly types?: readonly string[];
  readonly status?: number;
  readonly answer?: Schema;
  /** Content types of the response. Default: JSON. */
  readonly answerTypes?: readonly string[];
  handle(request: AdminRequest): Promise<AdminAnswer> | AdminAnswer;
}

/** The least role that may use a route. */
export function requiredRole(route: Route): Role | "anyone" {
  return "role" in route ? route.role : MATRIX[route.action].least;
}

/** Query parameters of every list. */
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
