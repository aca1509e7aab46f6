/** Client of the admin API. Knows HTTP and problem details, and nothing of the pages. */

import type {
  ItemOf,
  ListPath,
  Page,
  ReadPath,
  Reads,
  WriteRoute,
  Writes,
} from "../../src/admin/route-types.ts";
import type { FieldProblem } from "../../src/kernel/field-problem.ts";
import type { Changes } from "./types.ts";

const BASE = "/api/v1";
/** The maximum of the API. */
const PAGE_SIZE = 500;

/** Parameters of the path (marked with a colon there) and of the query. Undefined ones are omitted. */
export type Params = Readonly<Record<string, string | number | boolean | undefined>>;

/** A refused or failed request, as problem details of the gateway (RFC 9457). */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  /** 0: the gateway is unreachable. */
  readonly status: number;
  readonly title: string;
  readonly errors: readonly FieldProblem[];
  /** All members of the answer: `current` of a 412, `objects` of a 409. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Paths of the errors that fields show, so that they are not said twice. */
  readonly shown = new Set<string>();

  constructor(status: number, fields: Readonly<Record<string, unknown>>) {
    const { detail, title, errors } = fields as {
      detail?: string;
      title?: string;
      errors?: readonly FieldProblem[];
    };
    super(detail ?? title ?? `HTTP ${status}`);
    this.status = status;
    this.title = title ?? "";
    this.errors = errors ?? [];
    this.fields = fields;
  }
}

/**
 * What the gateway knew when it last answered. The next request may go to another replica, which catches up
 * to it first.
 */
const REVISION = "metamcp-revision";
let revision: string | null = null;

type Listener = (problem: ApiProblem) => void;
const listeners = new Set<Listener>();

/**
 * Calls `listener` with every problem, before the caller of the request gets it: an expired login, an
 * unreachable gateway.
 */
export function onProblem(listener: Listener): void {
  listeners.add(listener);
}

export async function get<P extends ReadPath>(
  path: P,
  params: Params = {},
  signal?: AbortSignal,
): Promise<Reads[P]> {
  return JSON.parse(await getText(path, params, signal)) as Reads[P];
}

/** Returns the unparsed body, because equal texts mean equal answers. */
export async function getText(path: ReadPath, params: Params = {}, signal?: AbortSignal): Promise<string> {
  return await (await request("GET", path, params, signal && { signal })).text();
}

/** Returns all pages of a list, each unparsed. */
export async function getPages(
  path: ListPath,
  params: Params = {},
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const pages: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const text = await getText(path, { limit: PAGE_SIZE, ...params, cursor }, signal);
    pages.push(text);
    ({ nextCursor: cursor } = JSON.parse(text) as Page<unknown>);
    if (cursor === undefined) return pages;
  }
}

export function itemsOf<P extends ListPath>(pages: readonly string[]): readonly ItemOf<P>[] {
  return pages.flatMap((text) => (JSON.parse(text) as Page<ItemOf<P>>).items);
}

export interface SendOptions {
  readonly params?: Params;
  /**
   * The revision that the person saw. If the object has changed since, the request fails with 412 and
   * overwrites nothing.
   */
  readonly revision?: number;
  readonly signal?: AbortSignal;
}

export async function send<R extends WriteRoute>(
  route: R,
  body: Writes[R]["body"],
  options: SendOptions = {},
): Promise<Writes[R]["answer"]> {
  const text = await write(route, body, options);
  return (text === "" ? undefined : JSON.parse(text)) as Writes[R]["answer"];
}

/** Returns the changes that the request would make, without making them. */
export async function dryRun<R extends WriteRoute>(
  route: R,
  body: Writes[R]["body"],
  { params, ...options }: SendOptions = {},
): Promise<Changes["changes"]> {
  const text = await write(route, body, { ...options, params: { ...params, dryRun: true } });
  return (JSON.parse(text) as Changes).changes;
}

async function write(
  route: WriteRoute,
  body: unknown,
  { params = {}, revision, signal }: SendOptions,
): Promise<string> {
  const [method = "", path = ""] = route.split(" ");
  const headers = {
    ...(body !== undefined && { "content-type": "application/json" }),
    ...(revision !== undefined && { "if-match": `"${revision}"` }),
  };
  const init = {
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  };
  return await (await request(method, path, params, init)).text();
}

async function request(
  method: string,
  path: string,
  params: Params,
  init: RequestInit = {},
): Promise<Response> {
  const headers = new Headers(init.headers);
  if (revision !== null) headers.set(REVISION, revision);
  const response = await fetch(urlOf(path, params), { ...init, method, headers }).catch((error: Error) => {
    if (error.name === "AbortError") throw error;
    throw notified(new ApiProblem(0, { title: "Offline", detail: "The gateway cannot be reached." }));
  });
  revision = response.headers.get(REVISION) ?? revision;
  if (response.ok) return response;
  const fields = await response.json().catch(() => ({ title: response.statusText }));
  throw notified(new ApiProblem(response.status, fields as Record<string, unknown>));
}

export function urlOf(path: string, params: Params): string {
  const rest = new Map(Object.entries(params));
  const filled = path.replace(/:(\w+)/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return encodeURIComponent(String(value));
  });
  const query = [...rest].flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return `${BASE}${filled}${query.length > 0 ? `?${new URLSearchParams(query)}` : ""}`;
}

function notified(problem: ApiProblem): ApiProblem {
  for (const listener of listeners) listener(problem);
  return problem;
}
