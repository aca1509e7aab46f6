/**
 * Types of the routes of the admin API. The same table of routes serves requests and is described as OpenAPI.
 */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Account, Role } from "../access/account.ts";
import { type Action, MATRIX } from "../access/may.ts";
import type { AdminChange } from "../kernel/events.ts";
import type { None, Properties, Schema, Static, Written } from "../kernel/json-schema.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Signal } from "../kernel/signal.ts";
import type { Changes } from "./schemas.ts";

/** A request, with the query, body and path parameters that its route declares. */
export interface AdminRequest<Query = unknown, Body = unknown, Params = unknown> {
  readonly principal: Principal;
  /** The account of the session or of the key, if there is one. */
  readonly account: Account | undefined;
  /** Network address of the client. */
  readonly address: string;
  readonly headers: IncomingHttpHeaders;
  readonly params: Params;
  /** Checked, converted, and with defaults. */
  readonly query: Query;
  /** The query as it was sent, for routes with `anyQuery`. */
  readonly search: URLSearchParams;
  /** Checked and with defaults, unless the route has `checksBody`. */
  readonly body: Body;
  readonly ifMatch: string | undefined;
  /**
   * Sets the changes to record in the audit log. Without it, the change is derived from the path and the
   * response.
   */
  readonly recordChanges: (changes: readonly RecordedChange[]) => void;
  readonly accept: string;
  /** Aborted when the client disconnects. */
  readonly signal: Signal;
}

/** A request whose path names an object. */
export type AtObject = Pick<AdminRequest<unknown, unknown, { readonly uuid: string }>, "params">;

/** Authenticates the reader of a stream again. Undefined if the reader is no longer allowed to read it. */
export type StreamReader = () => Principal | undefined;

export type RecordedChange = Pick<AdminChange, "action" | "object" | "revision">;

export interface AdminAnswer<Body = unknown> {
  readonly status?: number;
  readonly body?: Body;
  /** Text of this content type, instead of `body`. */
  readonly text?: { readonly type: string; readonly content: string };
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Starts a stream of server-sent events, instead of a body. Returns a function that ends it. */
  readonly events?: (response: ServerResponse, reader: StreamReader) => () => void;
}

type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
type Right = { readonly action: Action } | { readonly role: Role };

interface RouteFacts<M extends Method, P extends string, Q extends Properties, B, A> {
  readonly method: M;
  /** Below `/api/v1`; `:name` is a parameter. */
  readonly path: P;
  readonly summary: string;
  readonly tag: string;
  readonly query?: Q;
  /** Accepts unknown query parameters, e.g. those that an identity provider adds. */
  readonly anyQuery?: true;
  readonly body?: B;
  /** The handler checks the body itself: a change of an object does, together with the object. */
  readonly checksBody?: boolean;
  /** The longest body. Default: 1 MB. */
  readonly maxBytes?: number;
  /** Content types of the body. Default: JSON. */
  readonly types?: readonly string[];
  readonly status?: number;
  readonly answer?: A;
  /** The answer may be missing; the status is then 204. */
  readonly mayBeEmpty?: true;
  /** Content types of the response. Default: JSON. */
  readonly answerTypes?: readonly string[];
  /** A browser shows the response, so that a refusal may be an HTML page. */
  readonly refusesWithPage?: true;
}

interface Handler<Query, Body, Params, Answer> {
  handle(request: AdminRequest<Query, Body, Params>): Promise<AdminAnswer<Answer>> | AdminAnswer<Answer>;
}

/** A route with what it takes and returns as types, for clients. */
export type RouteOf<M extends Method, P extends string, Q extends Properties, B, A> = Right &
  RouteFacts<M, P, Q, B, A> &
  Handler<unknown, unknown, unknown, unknown>;

export type Route = RouteOf<Method, string, Properties, Schema, Schema>;

/** The values of query parameters, by name. */
export type QueryOf<Q> = Static<{ readonly type: "object"; readonly properties: Q }>;

type Names<P> = P extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | Names<More>
    : Rest
  : never;

/** The parameters of a path, by name. */
export type ParamsOf<P> = Readonly<Record<Names<P>, string>>;

/** What a handler may return: the answer, and for a dry run the changes. */
type Returned<Q, A> = Written<Static<A>> | ("dryRun" extends keyof Q ? Changes : never);

/** Declares a route. The types of the request and of the answer of its handler follow from its schemas. */
export function route<
  const M extends Method,
  const P extends string,
  const Q extends Properties = None,
  B extends Schema = never,
  A extends Schema = never,
  const C extends boolean = false,
>(
  declared: Right &
    RouteFacts<M, P, Q, B, A> & { readonly checksBody?: C } & Handler<
      QueryOf<Q>,
      C extends true ? unknown : Static<B>,
      ParamsOf<P>,
      Returned<Q, A>
    >,
): RouteOf<M, P, Q, B, A> {
  return declared;
}

/** The least role that may use a route. */
export function requiredRole(route: Route): Role | "anyone" {
  return "role" in route ? route.role : MATRIX[route.action].least;
}

/** A download: the items of a list, one per line. */
export const JSON_LINES = "application/x-ndjson";

/** Query parameters of every list. */
export const LIST_QUERY = {
  limit: { type: "integer", minimum: 1, maximum: 500, default: 100 },
  cursor: { type: "string", description: "nextCursor of the page before" },
  q: { type: "string", description: "only items with this text in the name or description" },
} as const;
export type ListQuery = QueryOf<typeof LIST_QUERY>;

export const DRY_RUN = {
  dryRun: { type: "boolean", description: "return the changes without making them" },
} as const;

export const TAKE_OVER = {
  takeOver: { type: "boolean", description: "change an object that a file manages; then the API manages it" },
} as const;

export const FORCE = {
  force: { type: "boolean", description: "also remove it from all objects that use it" },
} as const;
