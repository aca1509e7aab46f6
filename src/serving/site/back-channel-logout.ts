/** The address at which the identity provider ends logins here (OpenID Connect Back-Channel Logout 1.0). */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { IdentityChecks } from "../../access/identity-checks.ts";
import type { IdentityProvider } from "../../access/identity-provider.ts";
import { type ProviderLogout, verifyLogoutToken } from "../../access/logout-token.ts";
import type { Log } from "../../kernel/log.ts";
import { readForm } from "../../pages/form.ts";
import type { Store } from "../../store/store.ts";

const PATH = "/oauth/backchannel-logout";

export interface BackChannelParts {
  readonly provider: IdentityProvider;
  readonly checks: Pick<IdentityChecks, "loggedOut">;
  readonly store: Pick<Store, "records">;
  readonly log: Log;
}

export class BackChannelLogout {
  readonly #parts: BackChannelParts;

  constructor(parts: BackChannelParts) {
    this.#parts = parts;
  }

  answers(path: string): boolean {
    return path === PATH;
  }

  async answer(_path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { checks, log } = this.#parts;
    try {
      const token = request.method === "POST" ? (await readForm(request))?.get("logout_token") : undefined;
      const logout = await this.#verified(token ?? "");
      if (!logout) return send(response, 400, { error: "invalid_request" });
      await checks.loggedOut(logout);
      send(response, 200);
    } catch (error) {
      log.error(`a logout of the identity provider failed: ${(error as Error).message}`);
      if (!response.headersSent) send(response, 500, { error: "server_error" });
    }
  }

  async #verified(token: string): Promise<ProviderLogout | undefined> {
    const { provider, store, log } = this.#parts;
    try {
      return await verifyLogoutToken(token, provider, store);
    } catch (error) {
      log.info(`a logout token was refused: ${(error as Error).message}`);
      return undefined;
    }
  }
}

function send(response: ServerResponse, status: number, body?: object): void {
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  response.writeHead(status, headers).end(body && JSON.stringify(body));
}
