/** Login at the identity provider, and what ends it: checks every hour, and logouts there. */
import type { Access } from "../../access/access.ts";
import { IdentityChecks } from "../../access/identity-checks.ts";
import { IdentityProvider, type OidcSettings } from "../../access/identity-provider.ts";
import { OidcLogin } from "../../access/oidc-login.ts";
import type { GatewayContext } from "../gateway-options.ts";
import { BackChannelLogout } from "../site/back-channel-logout.ts";

export interface GatewayOidc {
  readonly login: OidcLogin;
  readonly checks: IdentityChecks;
  readonly backChannel: BackChannelLogout;
}

/** `revoke` revokes all OAuth grants of an account. */
export function openOidc(
  settings: OidcSettings,
  { store, clock, log, events, address }: GatewayContext,
  { accounts, sessions }: Pick<Access, "accounts" | "sessions">,
  revoke: (account: string) => Promise<void>,
): GatewayOidc {
  const provider = new IdentityProvider(settings);
  const checks = new IdentityChecks({ store, accounts, sessions, provider, revoke, clock, log, events });
  checks.start();
  const { sealer } = store;
  return {
    login: new OidcLogin({
      provider,
      checks,
      accounts,
      sealer,
      publicUrl: address.url,
      now: () => store.now(),
    }),
    checks,
    backChannel: new BackChannelLogout({ provider, checks, store, log }),
  };
}
