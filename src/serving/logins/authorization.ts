/**
 * OAuth of a gateway: its endpoints as protected resources, the accepted tokens, and the authorization
 * server.
 */
import type { IncomingMessage } from "node:http";
import type { Access } from "../../access/access.ts";
import { isAllowed } from "../../access/allow.ts";
import { Bearers } from "../../authorization/bearers.ts";
import { Grants, REVOKED } from "../../authorization/grants.ts";
import { fetchPublic } from "../../authorization/public-fetch.ts";
import { recordIds } from "../../authorization/record-id.ts";
import { AuthorizationServer } from "../../authorization/server.ts";
import { signingKey } from "../../authorization/signing-key.ts";
import { Tokens } from "../../authorization/tokens.ts";
import type { Compiled, CompiledEndpoint } from "../../gateway/compile.ts";
import type { Events, RevisionServed } from "../../kernel/events.ts";
import type { Log } from "../../kernel/log.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Store } from "../../store/store.ts";

export interface AuthorizationOptions {
  readonly store: Store;
  readonly access: Pick<Access, "accounts" | "sessions" | "keys">;
  readonly compiled: () => Compiled;
  /** The origin of the gateway for clients. Empty until it listens. */
  readonly base: () => string;
  readonly addressOf: (request: IncomingMessage) => string;
  /** Called when a grant is revoked: sessions and streams of the principal must end. */
  readonly onEnded: (principal: Principal) => void;
  /** Returns the link to the login at the identity provider, which leads back to `returnTo`. */
  readonly sso?: ((returnTo: string) => string) | undefined;
  /** Asks the identity provider about an account again. */
  readonly recheck?: ((account: string) => Promise<void>) | undefined;
  readonly events: Events;
  readonly log: Log;
}

export interface GatewayAuthorization {
  readonly base: () => string;
  readonly server: AuthorizationServer;
  readonly bearers: Bearers;
  readonly grants: Grants;
  /** False for endpoints with `oauth: false`, true for all other names, even unknown ones. */
  readonly allowsOAuth: (endpoint: string) => boolean;
  /** Uuid of the endpoint with this name, also of a disabled one. */
  readonly endpointId: (endpoint: string) => string | undefined;
  /** Trusted issuers beside the gateway itself. */
  readonly issuers: () => readonly string[];
  close(): void;
}

/** The link to the login at the identity provider. */
export function ssoLink(returnTo: string): string {
  return `/api/v1/login/oidc?returnTo=${encodeURIComponent(returnTo)}`;
}

export async function openAuthorization(options: AuthorizationOptions): Promise<GatewayAuthorization> {
  const { store, access, compiled, base, addressOf, onEnded, log, events, sso, recheck } = options;
  const { accounts, sessions, keys } = access;
  const idOf = recordIds(store.sealer);
  const grants = new Grants(store, {
    idOf,
    onRevoked: ({ account, client }) =>
      onEnded({ id: account, kind: "account", roles: [], groups: [], client }),
  });
  await grants.load();
  const removeOrphans = (): void =>
    void grants.revokeWithout((uuid) => compiled().endpoints.has(uuid)).catch(failed);
  const failed = (error: Error): void =>
    log.warn(`what was revoked could not be read or written: ${error.message}`);
  const stops = [
    store.onChange((change) => {
      if (change.of === "records" && change.kind === REVOKED) grants.load().catch(failed);
    }),
    // Grants of a disabled account are revoked, so they are not valid again when the account is enabled.
    accounts.onChange((uuid, account) => {
      if (!account || account.disabled) grants.revokeAll(uuid).catch(failed);
    }),
    // Only after revisions of this gateway: its compiled state certainly contains all endpoints of the
    // revision.
    events.on((event) => {
      if (event.type === "revision" && event.by === "this" && mayRemoveEndpoint(event)) removeOrphans();
    }),
  ];
  // Endpoints that were deleted while this gateway did not run.
  removeOrphans();
  const key = signingKey((purpose) => store.sealer.derive(purpose));
  const settings = () => compiled().settings?.spec;
  const issuers = () => settings()?.issuers ?? [];
  const now = (): number => store.now();
  const tokens = new Tokens({ base, key: key.public, issuers, now });
  const allowsOAuth = (endpoint: string): boolean =>
    endpointNamed(compiled(), endpoint)?.object.spec.access.oauth !== false;
  const endpointId = (endpoint: string): string | undefined =>
    endpointNamed(compiled(), endpoint)?.object.uuid;
  const server = new AuthorizationServer({
    base,
    store,
    key,
    idOf,
    grants,
    accounts,
    machines: keys,
    allowsOAuth,
    endpointId,
    addressOf,
    log,
    events,
    sso,
    recheck,
    logins: sessions,
    mayUse(endpoint, account) {
      const rules = compiled().paths.get(endpoint)?.object.spec.access;
      return rules?.oauth === true && isAllowed(account, rules.allow);
    },
    registers: () => settings()?.registration !== "closed",
    fetch: fetchPublic,
    now: Date.now,
  });
  return {
    base,
    server,
    bearers: new Bearers({ tokens, grants, accounts, machines: keys, now }),
    grants,
    allowsOAuth,
    endpointId,
    issuers: () => issuers().map(({ issuer }) => issuer),
    close() {
      for (const stop of stops) stop();
    },
  };
}

/** Includes disabled endpoints, so that strangers cannot tell them from others. */
function endpointNamed({ paths, endpoints }: Compiled, name: string): CompiledEndpoint | undefined {
  return paths.get(name) ?? [...endpoints.values()].find(({ object }) => object.name === name);
}

/** `changes` has only the first changes, so a longer revision may have removed one too. */
function mayRemoveEndpoint({ changes = [], more }: RevisionServed): boolean {
  return more !== undefined || changes.some(({ op, kind }) => op === "delete" && kind === "endpoint");
}
