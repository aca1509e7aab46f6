/** HTTP client for the admin API of a gateway, with readable errors. */
import type { ItemOf, ListPath, Page, ReadPath, Reads, WriteRoute, Writes } from "../../admin/route-types.ts";
import { type Table, UsageError } from "../../config/command-line.ts";
import type { GATEWAY_FLAGS } from "../../config/gateway-flags.ts";
import type { ReadSettings } from "../../config/settings.ts";
import type { FieldProblem } from "../../kernel/field-problem.ts";
import { spin } from "../spinner.ts";

/** Those with a colon in the path go there, all others into the query. Undefined ones are left out. */
type Params = Readonly<Record<string, string | number | boolean | undefined>>;

interface Problem {
  readonly detail?: string;
  readonly errors?: readonly FieldProblem[];
}

/** The settings and arguments of a gateway command. */
export type Given<T extends Table> = ReadSettings<T & typeof GATEWAY_FLAGS>;

const PAGE_SIZE = 500;
/** What the gateway knew when it answered. Another replica catches up to it before it answers the next. */
const REVISION = "metamcp-revision";

/** The gateway cannot be reached or failed; a retry may work. */
export class GatewayUnavailable extends Error {}

/** The gateway refused the request. */
export class GatewayRefusal extends Error {
  readonly errors: NonNullable<Problem["errors"]>;

  constructor(message: string, { errors = [] }: Problem) {
    super(message);
    this.errors = errors;
  }
}

export class GatewayClient {
  readonly url: string;
  readonly #token: string;
  #revision: string | null = null;

  constructor({
    gateway,
    adminToken,
  }: { readonly gateway: string; readonly adminToken: string | undefined }) {
    if (!/^https?:\/\//.test(gateway) || !URL.canParse(gateway))
      throw new UsageError(`--gateway is "${gateway}", but must be an http or https URL.`);
    if (!adminToken)
      throw new UsageError(
        "METAMCP_ADMIN_TOKEN is not set: set it to the admin token of the gateway, or to an API key with a role.",
      );
    this.url = gateway.replace(/\/+$/, "");
    this.#token = adminToken;
  }

  async get<P extends ReadPath>(path: P, params: Params = {}): Promise<Reads[P]> {
    return JSON.parse(await this.text("GET", path, { params })) as Reads[P];
  }

  async send<R extends WriteRoute>(
    route: R,
    body: Writes[R]["body"],
    params: Params = {},
  ): Promise<Writes[R]["answer"]> {
    const [method = "", path = ""] = route.split(" ");
    const text = await this.text(method, path, { params, body });
    return (text === "" ? undefined : JSON.parse(text)) as Writes[R]["answer"];
  }

  /** All pages of a list, with `limit` items each. */
  async all<P extends ListPath>(path: P, params: Params = {}): Promise<readonly ItemOf<P>[]> {
    const items: ItemOf<P>[] = [];
    for (let cursor: string | undefined; ; ) {
      const text = await this.text("GET", path, { params: { limit: PAGE_SIZE, ...params, cursor } });
      const page = JSON.parse(text) as Page<ItemOf<P>>;
      items.push(...page.items);
      cursor = page.nextCursor;
      if (cursor === undefined) return items;
    }
  }

  async text(
    method: string,
    path: string,
    { params = {}, body, accept = "application/json" }: { params?: Params; body?: unknown; accept?: string },
  ): Promise<string> {
    const answer = await this.#fetch(pathOf(path, params), {
      method,
      // The token must not be sent to another address.
      redirect: "error",
      headers: {
        accept,
        authorization: `Bearer ${this.#token}`,
        ...(this.#revision === null ? {} : { [REVISION]: this.#revision }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    this.#revision = answer.headers.get(REVISION) ?? this.#revision;
    const text = await answer.text();
    if (answer.ok) return text;
    const why = this.#refusal(answer.status, text);
    throw answer.status >= 500 ? new GatewayUnavailable(why) : new GatewayRefusal(why, problemIn(text));
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const spinner = spin(`asking ${this.url} …`);
    try {
      return await fetch(`${this.url}/api/v1${path}`, init);
    } catch (error) {
      const { cause } = error as { cause?: { code?: string; message?: string } };
      const why = cause?.code ?? cause?.message ?? (error as Error).message;
      throw new GatewayUnavailable(
        `Cannot reach a gateway at ${this.url} (${why}). Start one with "metamcp serve", or name another with --gateway.`,
      );
    } finally {
      spinner.stop();
    }
  }

  #refusal(status: number, text: string): string {
    if (status === 401) return `The gateway at ${this.url} does not accept METAMCP_ADMIN_TOKEN.`;
    const { detail, errors = [] } = problemIn(text);
    if (detail === undefined) return `The gateway at ${this.url} answered ${status}.`;
    if (errors.length < 2) return detail;
    return [detail, ...errors.map(({ path, message }) => `  ${path} ${message}`)].join("\n");
  }
}

function pathOf(path: string, params: Params): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    if (path.includes(`:${name}`)) filled = filled.replace(`:${name}`, encodeURIComponent(value));
    else query.set(name, String(value));
  }
  return query.size > 0 ? `${filled}?${query.toString()}` : filled;
}

function problemIn(text: string): Problem {
  try {
    return JSON.parse(text) as Problem;
  } catch {
    return {};
  }
}
