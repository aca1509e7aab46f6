/** Asks the admin API. Knows HTTP and problems, and nothing of what is shown. */
import type { ItemOf, ListPath, ReadPath, Reads, WriteRoute, Writes } from "./routes.ts";
import type { Changes, Page } from "./types.ts";

const BASE = "/api/v1";
/** The most that a list gives at once. */
const PAGE_SIZE = 500;

/** Those that the path names with a colon, and those of the query; undefined ones are left out. */
export type Params = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Fault {
  /** A JSON Pointer into what was sent. */
  readonly path: string;
  readonly message: string;
}

/** Why something could not be done, in the words of the gateway (RFC 9457). */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  /** 0: the gateway could not be reached. */
  readonly status: number;
  readonly title: string;
  readonly errors: readonly Fault[];
  /** All that was answered: `current` of a 412, `objects` of a 409. */
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(status: number, fields: Readonly<Record<string, unknown>>) {
    const { detail, title, errors } = fields as {
      detail?: string;
      title?: string;
      errors?: readonly Fault[];
    };
    super(detail ?? title ?? `HTTP ${status}`);
    this.status = status;
    this.title = title ?? "";
    this.errors = errors ?? [];
    this.fields = fields;
  }
}

type Listener = (problem: ApiProblem) => void;
const listeners = new Set<Listener>();

/** Hears of every problem before whoever asked does: of a login that ended, of a gateway that is gone. */
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

/** As it was written: equal texts are equal answers. */
export async function getText(path: ReadPath, params: Params = {}, signal?: AbortSignal): Promise<string> {
  return await (await ask("GET", path, params, signal && { signal })).text();
}

/** All pages of a list, each as it was written. */
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

export interface Sending {
  readonly params?: Params;
  /** Of the revision that was shown: what changed meanwhile is not overwritten, but a problem 412. */
  readonly revision?: number;
  readonly signal?: AbortSignal;
}

export async function send<R extends WriteRoute>(
  route: R,
  body: Writes[R]["body"],
  sending: Sending = {},
): Promise<Writes[R]["answer"]> {
  const text = await write(route, body, sending);
  return (text === "" ? undefined : JSON.parse(text)) as Writes[R]["answer"];
}

/** What sending it would change. Nothing is changed. */
export async function tryOut<R extends WriteRoute>(
  route: R,
  body: Writes[R]["body"],
  { params, ...sending }: Sending = {},
): Promise<Changes["changes"]> {
  const text = await write(route, body, { ...sending, params: { ...params, dryRun: true } });
  return (JSON.parse(text) as Changes).changes;
}

async function write(
  route: WriteRoute,
  body: unknown,
  { params = {}, revision, signal }: Sending,
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
  return await (await ask(method, path, params, init)).text();
}

async function ask(method: string, path: string, params: Params, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(urlOf(path, params), { ...init, method }).catch((error: Error) => {
    if (error.name === "AbortError") throw error;
    throw told(new ApiProblem(0, { title: "Offline", detail: "The gateway cannot be reached." }));
  });
  if (response.ok) return response;
  const fields = await response.json().catch(() => ({ title: response.statusText }));
  throw told(new ApiProblem(response.status, fields as Record<string, unknown>));
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

function told(problem: ApiProblem): ApiProblem {
  for (const listener of listeners) listener(problem);
  return problem;
}
