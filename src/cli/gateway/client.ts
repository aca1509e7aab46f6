/** HTTP client for the admin API of a gateway, with readable errors. */
import { type Table, UsageError } from "../../config/command-line.ts";
import type { GATEWAY_FLAGS } from "../../config/gateway-flags.ts";
import type { ReadSettings } from "../../config/settings.ts";
import { spin } from "../spinner.ts";

export type Json = Readonly<Record<string, unknown>>;

interface Problem {
  readonly detail?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

/** The settings and arguments of a gateway command. */
export type Given<T extends Table> = ReadSettings<T & typeof GATEWAY_FLAGS>;

const PAGE_SIZE = 500;

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

  async get<T = Json>(path: string): Promise<T> {
    return JSON.parse(await this.text("GET", path)) as T;
  }

  async post<T = Json>(path: string, body?: unknown): Promise<T> {
    return JSON.parse(await this.text("POST", path, { body })) as T;
  }

  async patch<T = Json>(path: string, body: unknown): Promise<T> {
    return JSON.parse(await this.text("PATCH", path, { body })) as T;
  }

  async delete(path: string): Promise<void> {
    await this.text("DELETE", path);
  }

  /** All pages of a list. */
  async all<T = Json>(path: string): Promise<readonly T[]> {
    const items: T[] = [];
    for (let cursor: string | undefined; ; ) {
      const query = new URLSearchParams({
        limit: String(PAGE_SIZE),
        ...(cursor === undefined ? {} : { cursor }),
      });
      const page = await this.get<{ items: readonly T[]; nextCursor?: string }>(
        `${path}?${query.toString()}`,
      );
      items.push(...page.items);
      cursor = page.nextCursor;
      if (cursor === undefined) return items;
    }
  }

  async text(
    method: string,
    path: string,
    { body, accept = "application/json" }: { body?: unknown; accept?: string } = {},
  ): Promise<string> {
    const answer = await this.#fetch(path, {
      method,
      // The token must not be sent to another address.
      redirect: "error",
      headers: {
        accept,
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
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

function problemIn(text: string): Problem {
  try {
    return JSON.parse(text) as Problem;
  } catch {
    return {};
  }
}
