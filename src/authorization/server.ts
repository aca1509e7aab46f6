/**
 * The built-in authorization server: routing and rate limits in front of oidc-provider, which is loaded on
 * first use.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { faultPage, type HtmlPage, sendPage } from "../pages/html.ts";
import type { AuthorizationParts } from "./parts.ts";
import { SharedRateLimiter } from "./rate-limiter.ts";
import { SCOPE } from "./resource.ts";
import { LOGIN, ROUTES, routeOf, withScope } from "./routes.ts";

const REGISTRATIONS_A_MINUTE = 20;
/** Starting a login needs no authentication and stores a record for a while, so it is limited. */
const LOGINS_A_MINUTE = 120;

interface Loaded {
  readonly provide: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly interact: (path: string, request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

export class AuthorizationServer {
  readonly #parts: AuthorizationParts;
  readonly #registrations: SharedRateLimiter;
  readonly #logins: SharedRateLimiter;
  #loaded: Promise<Loaded> | undefined;

  constructor(parts: AuthorizationParts) {
    // `#rewrite` removes the headers of proxies, so the address is remembered before.
    const addresses = new WeakMap<IncomingMessage, string>();
    const addressOf = (request: IncomingMessage): string => {
      const address = addresses.get(request) ?? parts.addressOf(request);
      addresses.set(request, address);
      return address;
    };
    this.#parts = { ...parts, addressOf };
    const { tries } = parts.store;
    this.#registrations = new SharedRateLimiter("registration", REGISTRATIONS_A_MINUTE, tries);
    this.#logins = new SharedRateLimiter("authorization", LOGINS_A_MINUTE, tries);
  }

  /** Whether the path belongs to the authorization server. */
  answers(path: string): boolean {
    return routeOf(path) !== undefined;
  }

  async answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#answer(routeOf(path) ?? path, request, response);
    } catch (error) {
      this.#parts.log.error(`authorization server: ${(error as Error).stack}`);
      if (response.headersSent) response.destroy();
      else sendPage(response, faultPage("Something went wrong. Try again later.", 500));
    }
  }

  async #answer(route: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (route === ROUTES.registration && !(await this.#mayRegister(request, response))) return;
    const address = this.#parts.addressOf(request);
    if (route === ROUTES.authorization) {
      const wait = await this.#logins.take(address, this.#parts.now());
      if (wait > 0) return sendPage(response, busyPage(wait));
    }
    this.#rewrite(route, request);
    this.#loaded ??= load(this.#parts);
    const { provide, interact } = await this.#loaded;
    if (route.startsWith(`${LOGIN}/`)) await interact(route, request, response);
    else await provide(request, response);
  }

  async #mayRegister(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { registers, addressOf, now } = this.#parts;
    if (!registers()) {
      refuse(response, 403, "access_denied", "client registration is turned off");
      return false;
    }
    const wait = await this.#registrations.take(addressOf(request), now());
    if (wait === 0) return true;
    response.setHeader("retry-after", Math.ceil(wait / 1_000));
    refuse(response, 429, "temporarily_unavailable", "too many registrations from this address");
    return false;
  }

  /**
   * Replaces Host and forwarded headers with our own address, because oidc-provider builds URLs from them.
   */
  #rewrite(route: string, request: IncomingMessage): void {
    const { host, protocol } = new URL(this.#parts.base());
    const { headers, url = "" } = request;
    for (const name of Object.keys(headers))
      if (name.startsWith("x-forwarded-") || name === "forwarded" || name === "x-real-ip")
        delete headers[name];
    Object.assign(headers, {
      host,
      "x-forwarded-host": host,
      "x-forwarded-proto": protocol.slice(0, -1),
    });
    const query = url.indexOf("?");
    const rewritten = query < 0 ? route : `${route}${url.slice(query)}`;
    request.url = route === ROUTES.authorization ? withScope(rewritten, SCOPE) : rewritten;
    // `interaction.ts` checks the origin of login pages. The HTTP server has checked all others.
    if (!route.startsWith(`${LOGIN}/`)) delete headers.origin;
  }
}

async function load(parts: AuthorizationParts): Promise<Loaded> {
  const [{ createProvider }, { Interaction }] = await withoutRuntimeWarning(() =>
    Promise.all([import("./provider.ts"), import("./interaction.ts")]),
  );
  const provider = createProvider(parts);
  const callback = provider.callback();
  const interaction = new Interaction(provider, parts);
  return {
    provide: async (request, response) => await callback(request, response),
    interact: (path, request, response) => interaction.answer(path, request, response),
  };
}

/** oidc-provider warns about Node 20 when it is loaded. We support and test Node 20. */
async function withoutRuntimeWarning<T>(load: () => Promise<T>): Promise<T> {
  const { warn } = console;
  console.warn = (...texts: readonly unknown[]): void => {
    if (!String(texts[0]).includes("oidc-provider WARNING: Unsupported runtime")) warn(...texts);
  };
  try {
    return await load();
  } finally {
    console.warn = warn;
  }
}

function busyPage(waitMs: number): HtmlPage {
  const page = faultPage("Too many logins were started from your address. Try again in a minute.", 429);
  return { ...page, headers: { "retry-after": String(Math.ceil(waitMs / 1_000)) } };
}

function refuse(response: ServerResponse, status: number, error: string, text: string): void {
  const body = JSON.stringify({ error, error_description: text });
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" }).end(body);
}
