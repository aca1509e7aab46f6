/**
 * Servers that each account uses with its own credential: one child per account, made at the first use. Each
 * has its own connections and its own health, so that the credential of one account cannot open or break
 * anything for another.
 */

import { idOf } from "../config/identity.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { ServerId } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Asker } from "../kernel/list-key.ts";
import { accountOf } from "../kernel/principal.ts";
import type { ServerStatus } from "../kernel/server-status.ts";
import type { Child } from "./child.ts";
import { joinedStatus } from "./status.ts";
import { type CallerCredentials, unusedStatus } from "./unused-status.ts";

/** If a server has more children than this, those without calls and connections are removed. */
const MAX_CHILDREN = 1_000;

export class AccountChildren {
  readonly #credentials: CallerCredentials;
  readonly #make: (spec: ServerSpec) => Child;
  /** By server, then by account. */
  readonly #children = new Map<ServerId, Map<string, Child>>();
  /** Removed children that finish their calls. */
  readonly #leaving = new Set<Child>();

  constructor(credentials: CallerCredentials, make: (spec: ServerSpec) => Child) {
    this.#credentials = credentials;
    this.#make = make;
  }

  get all(): readonly Child[] {
    return [...this.#children.values()].flatMap((children) => [...children.values()]);
  }

  get leaving(): Iterable<Child> {
    return this.#leaving;
  }

  at(server: ServerId): readonly Child[] {
    return [...(this.#children.get(server)?.values() ?? [])];
  }

  /**
   * The child of this account with its current credential. Throws if the account has none. Runs for every
   * call.
   */
  of(base: ServerSpec, account: string | undefined): Child {
    const spec = this.#credentials.of(base, account);
    if (MetaMcpError.is(spec)) throw spec;
    const children = this.#at(idOf(base));
    const known = children.get(account as string);
    if (known) {
      if (known.connections.spec !== spec) known.connections.apply(spec);
      return known;
    }
    if (children.size >= MAX_CHILDREN) removeUnused(children);
    const child = this.#make(spec);
    children.set(account as string, child);
    return child;
  }

  /** The child of this account, if there is one. */
  find(base: ServerSpec, account: string | undefined): Child | undefined {
    return account === undefined ? undefined : this.#children.get(idOf(base))?.get(account);
  }

  /** The status for this caller; without one, for all accounts together. */
  status(base: ServerSpec, asker: Pick<Asker, "principal"> | undefined): ServerStatus {
    if (!asker)
      return joinedStatus(
        base,
        this.at(idOf(base)).map((child) => child.status()),
      );
    const unused = unusedStatus(base, this.#credentials, asker);
    return unused.refusal ? unused : (this.find(base, accountOf(asker.principal))?.status() ?? unused);
  }

  /**
   * Applies a change of the server or of credentials: reconnects children whose settings changed, removes
   * those of accounts without a credential.
   */
  apply(base: ServerSpec): void {
    const children = this.#children.get(idOf(base)) ?? new Map<string, Child>();
    for (const [account, child] of children) {
      const spec = this.#credentials.of(base, account);
      if (!MetaMcpError.is(spec)) child.connections.apply(spec);
      else {
        children.delete(account);
        this.#remove(child, spec);
      }
    }
  }

  /** The server was removed or no longer has credentials per account. */
  remove(server: ServerId, reason: MetaMcpError): void {
    for (const child of this.at(server)) this.#remove(child, reason);
    this.#children.delete(server);
  }

  #remove(child: Child, reason: MetaMcpError): void {
    this.#leaving.add(child);
    void child.connections.remove(reason).finally(() => this.#leaving.delete(child));
  }

  #at(server: ServerId): Map<string, Child> {
    let children = this.#children.get(server);
    if (!children) {
      children = new Map();
      this.#children.set(server, children);
    }
    return children;
  }
}

function removeUnused(children: Map<string, Child>): void {
  for (const [account, { connections }] of children) if (connections.unused) children.delete(account);
}
