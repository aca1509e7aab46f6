/**
 * Opens everything that authenticates callers: accounts, keys, sessions, secrets. Kept in memory and updated
 * from the store.
 */

import type { Clock } from "../kernel/clock.ts";
import { Listeners } from "../kernel/listeners.ts";
import type { Log } from "../kernel/log.ts";
import type { Principal } from "../kernel/principal.ts";
import type { RecordChange, Store } from "../store/store.ts";
import { ACCOUNT, type Account, accountPrincipal } from "./account.ts";
import { Accounts } from "./accounts.ts";
import { API_KEY } from "./api-key.ts";
import { keyRecords } from "./api-keys.ts";
import { CONSOLE_SESSION, ConsoleSessions } from "./console-session.ts";
import { IDENTITY_LOGIN } from "./identity-checks.ts";
import { Invitations, invitationRemoval } from "./invitations.ts";
import { type KeyControl, keyControl } from "./key-control.ts";
import { KeyRing } from "./key-ring.ts";
import { KeyUse } from "./key-use.ts";
import { Setup } from "./setup.ts";
import { USER_SECRET, UserSecrets } from "./user-secrets.ts";

export interface AccessOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: () => string;
  /** The admin token. With it, no account needs to be an administrator. */
  readonly adminToken: string | undefined;
  /** Whether people can log in with passwords. Default: they can. */
  readonly passwords?: () => boolean;
  /** How long keys are valid at most. Default: no limit. */
  readonly keyLifetimeMs?: () => number | undefined;
  readonly publicUrl: string | undefined;
  readonly https: boolean;
}

export interface Access {
  readonly accounts: Accounts;
  /** Console sessions, identified by cookies. */
  readonly sessions: ConsoleSessions;
  readonly keys: KeyRing;
  readonly keyControl: KeyControl;
  readonly setup: Setup;
  readonly invitations: Invitations;
  readonly secrets: UserSecrets;
  readonly adminToken: string | undefined;
  /** Deletes an account with its keys, secrets, invitation and sessions. */
  removeAccount(account: Account): Promise<void>;
  /**
   * Runs when all sessions and calls of a principal must end. A principal without key and client means all
   * with its id. Returns a function that unsubscribes.
   */
  onEnded(listener: (principal: Principal) => void): () => void;
  /** Resolves when everything that the store has reported is in memory. Undefined if it is. */
  settled(): Promise<unknown> | undefined;
  /** Writes what is buffered. */
  close(): Promise<void>;
}

export async function openAccess(options: AccessOptions): Promise<Access> {
  const { store, clock, log, newId, adminToken, passwords, keyLifetimeMs } = options;
  const listeners = new Listeners<[Principal]>();
  const ended = (principal: Principal): void => listeners.emit(principal);
  const { tries } = store;
  const accounts = new Accounts(store, { newId, adminToken: adminToken !== undefined, passwords, tries });
  const sessions = new ConsoleSessions(store, accounts, options);
  const use = new KeyUse(store, { clock, log });
  const keys = new KeyRing(store, {
    accounts,
    clock,
    lifetimeMs: keyLifetimeMs,
    now: () => store.now(),
    onEnded: ended,
    onUsed: (key) => use.used(key),
  });
  const secrets = new UserSecrets(store);
  const known = new Map<string, Account>();
  accounts.onChange((uuid, account) => {
    const before = known.get(uuid);
    if (before && (!account || account.disabled)) ended(accountPrincipal(before));
    if (account) known.set(uuid, account);
    else known.delete(uuid);
  });
  const kinds = new Map<string, { load(): Promise<void> }>([
    [ACCOUNT, accounts],
    [API_KEY, keys],
    [CONSOLE_SESSION, sessions],
    [USER_SECRET, secrets],
  ]);
  await Promise.all([...kinds.values()].map((cache) => cache.load()));
  const loading = new Set<Promise<void>>();
  const stopFollowing = store.onChange((change) => {
    const cache = change.of === "records" ? kinds.get(change.kind) : undefined;
    if (!cache || change.of !== "records") return;
    const load = cache
      .load()
      .catch((error: Error) =>
        log.warn(
          `${change.kind}s could not be read from the store: ${error.message}; the last known ones stay in use`,
        ),
      )
      .finally(() => loading.delete(load));
    loading.add(load);
  });
  return {
    accounts,
    sessions,
    keys,
    keyControl: keyControl(store, () => keys.load()),
    setup: new Setup(store, accounts),
    invitations: new Invitations(store, accounts),
    secrets,
    adminToken,
    async removeAccount({ uuid }) {
      const owned = (await keyRecords(store)).filter(
        ({ value }) => (value as { owner?: string }).owner === uuid,
      );
      const also: RecordChange[] = [
        invitationRemoval(uuid),
        { delete: { kind: IDENTITY_LOGIN, id: uuid } },
        ...secrets.removal(uuid),
        ...owned.map(({ id }) => ({ delete: { kind: API_KEY, id } })),
      ];
      await accounts.remove(uuid, also);
      await Promise.all([sessions.endOf(uuid), keys.load(), secrets.load()]);
    },
    onEnded: (listener) => listeners.on(listener),
    settled: () => (loading.size > 0 ? Promise.all(loading) : undefined),
    async close() {
      stopFollowing();
      keys.stop();
      await use.flush();
    },
  };
}
