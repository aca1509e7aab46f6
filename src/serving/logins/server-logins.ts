/** Logins of a gateway at remote servers: those of single accounts, and shared ones. */
import type { IncomingMessage } from "node:http";
import type { Access } from "../../access/access.ts";
import type { Account } from "../../access/account.ts";
import { accountPrincipal } from "../../access/account.ts";
import { isAllowed } from "../../access/allow.ts";
import { may } from "../../access/may.ts";
import { hasEntryCredential } from "../../config/entry-credential.ts";
import { idOf } from "../../config/identity.ts";
import type { RemoteSpec, ServerSpec } from "../../config/spec.ts";
import type { EngineCredentials } from "../../engine/credentials.ts";
import type { Compiled } from "../../gateway/compile.ts";
import { find } from "../../gateway/names.ts";
import type { Events } from "../../kernel/events.ts";
import type { Log } from "../../kernel/log.ts";
import type { Signal } from "../../kernel/signal.ts";
import { unlessAborted } from "../../kernel/signal.ts";
import { CallerCredentials } from "../../server-logins/accounts/caller-credentials.ts";
import { LoginControl } from "../../server-logins/accounts/login-control.ts";
import { loginDataStoreInDatabase } from "../../server-logins/accounts/login-data-store.ts";
import {
  type LoginKey,
  LoginRecords,
  SERVER_LOGIN,
  SHARED,
} from "../../server-logins/accounts/login-records.ts";
import { CALLBACK, DOCUMENT, LoginSite, linkPath, pageOf } from "../../server-logins/accounts/login-site.ts";
import { ServerLogins } from "../../server-logins/accounts/server-logins.ts";
import type { Store } from "../../store/store.ts";
import { engineSpec } from "../live/engine-config.ts";

export interface LoginsOptions {
  readonly store: Store;
  readonly access: Pick<Access, "accounts" | "sessions" | "secrets">;
  readonly compiled: () => Compiled;
  /** The origin of the gateway for browsers. Empty until it listens. */
  readonly base: () => string;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly sso: ((returnTo: string) => string) | undefined;
  readonly events: Events;
  readonly log: Log;
}

export interface GatewayLogins {
  readonly credentials: EngineCredentials;
  readonly control: LoginControl;
  readonly site: LoginSite;
  /** Called when a credential of an account at a server changes. */
  onChange(listener: (account: string) => void): void;
  close(): void;
}

export async function openLogins(options: LoginsOptions): Promise<GatewayLogins> {
  const { store, access, compiled, base, addressOf, sso, events, log } = options;
  const { accounts, secrets, sessions } = access;
  const records = new LoginRecords(store);
  await records.load();
  const specOf = (server: string): ServerSpec | undefined => {
    const found = compiled().servers.get(server);
    return found && engineSpec(found);
  };
  const page = (server: string, account?: string): string => `${base()}${pageOf(server, account)}`;
  const callers = new CallerCredentials({ store, accounts, secrets, records, loginPage: page });
  const servers = new ServerLogins({
    store,
    records,
    events,
    callback: () => `${base()}${CALLBACK}`,
    linkPage: (ticket) => `${base()}${linkPath(ticket)}`,
    document: () => (base().startsWith("https:") ? `${base()}${DOCUMENT}` : undefined),
    specOf({ server, account }) {
      const spec = specOf(server);
      if (account === SHARED) return spec && isShared(spec) ? spec : undefined;
      const own = spec?.perAccount === "login" ? callers.reached(spec, account) : undefined;
      return own?.kind === "stdio" ? undefined : own;
    },
  });
  const ownServers = (account: Account): readonly ServerSpec[] =>
    [...usedBy(account, compiled())].flatMap((server) => {
      const spec = specOf(server);
      return spec?.perAccount ? [spec] : [];
    });
  const sharedServer = (server: string): ServerSpec | undefined => {
    const spec = specOf(server);
    return spec && isShared(spec) ? spec : undefined;
  };
  const serverFor = (reference: string, account: Account): ServerSpec | undefined => {
    const server = find(compiled().objects.server, reference)?.uuid ?? "";
    const own = ownServers(account).find((spec) => idOf(spec) === server);
    return own ?? (may(accountPrincipal(account), "servers.write") ? sharedServer(server) : undefined);
  };

  await accounts.load();
  const failed = (error: Error): void =>
    log.warn(`logins at servers could not be read or ended: ${error.message}`);
  const forget = (concerns: (place: LoginKey) => boolean): void =>
    void servers.revoke([...records.all].filter(concerns)).catch(failed);
  const stops = [
    store.onChange((change) => {
      if (change.of === "records" && change.kind === SERVER_LOGIN) records.load().catch(failed);
    }),
    store.onState(({ up }) => void (up && records.load(true).catch(failed))),
    accounts.onChange((uuid, account) => {
      if (!account) forget((place) => place.account === uuid);
    }),
    // Only after revisions of this gateway: its compiled state certainly contains all servers of the
    // revision.
    events.on((event) => {
      if (event.type === "revision" && event.by === "this")
        forget(({ server }) => !compiled().servers.has(server));
    }),
  ];
  // Logins of accounts that were deleted while this gateway did not run.
  forget(({ account }) => account !== SHARED && !accounts.byId(account));
  return {
    control: new LoginControl({ callers, servers, ownServers, sharedServer, page }),
    site: new LoginSite({
      callers,
      servers,
      secrets,
      accounts,
      logins: sessions,
      addressOf,
      serverFor,
      sso,
      base,
      events,
      log,
    }),
    onChange: (listener) => void callers.onChange(listener),
    credentials: {
      of: (spec, account) => callers.of(spec, account),
      now: () => store.now(),
      logins: (spec) =>
        loginDataStoreInDatabase({ store, records }, { server: idOf(spec), account: holderOf(spec) }),
      howToLogIn(spec) {
        if (spec.perAccount) {
          const url = page(idOf(spec), holderOf(spec));
          return { url, advice: `Ask the user to open ${url}` };
        }
        if (!isShared(spec)) return undefined;
        const url = page(idOf(spec));
        return { url, advice: `Ask an administrator of the gateway to open ${url}` };
      },
      login: (spec, account) => ({
        url: page(idOf(spec), account),
        done: (signal) => changed(callers, { spec, account }, signal),
      }),
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}

/** The account whose login is used for the server. */
function holderOf({ perAccount, credential = "" }: ServerSpec): string {
  return perAccount ? (credential.split(".", 1)[0] ?? "") : SHARED;
}

/** A remote server with one login for everybody: nothing in its config stands for one. */
function isShared(spec: ServerSpec): spec is RemoteSpec {
  return spec.kind !== "stdio" && !spec.perAccount && !hasEntryCredential(spec) && !spec.oauth?.grant;
}

/** The servers of all endpoints that the account may use. */
function usedBy(account: Account, { paths }: Compiled): ReadonlySet<string> {
  const open = [...paths.values()].filter(({ object }) => isAllowed(account, object.spec.access.allow));
  return new Set(open.flatMap(({ parts }) => parts.flatMap(({ part }) => (part.off ? [] : [part.server]))));
}

/** Resolves when the credential of the account has changed to a usable one. */
async function changed(
  callers: CallerCredentials,
  { spec, account }: { readonly spec: ServerSpec; readonly account: string },
  signal: Signal,
): Promise<void> {
  const before = callers.of(spec, account);
  let stop = (): void => {};
  const other = new Promise<void>((resolve) => {
    stop = callers.onChange((whose) => {
      const now = whose === account ? callers.of(spec, account) : before;
      if (now !== before && !("code" in now)) resolve();
    });
  });
  try {
    await unlessAborted(other, signal);
  } finally {
    stop();
  }
}
