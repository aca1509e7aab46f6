/**
 * Servers that let each account in as itself: one child for each account that uses them, with its own connections and its
 * own health, so that nobody's credential opens or breaks anything for another. Made at the first use.
 */
import { idOf } from "../config/identity.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { ServerId } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Asker } from "../kernel/list-key.ts";
import { accountOf } from "../kernel/principal.ts";
import type { Child } from "./child.ts";
import { type ChildStatus, joinedStatus } from "./status.ts";

/** What callers are let in with. */
export interface CallerCredentials {
  /** The server as this account reaches it: the same object while that is the same. Else why it cannot, and where to log in. */
  of(spec: ServerSpec, account: string | undefined): ServerSpec | MetaMcpError;
}

/** Beyond so many of one server those that are not connected are forgotten. */
const MOST_IDLE = 1_000;

export class OwnChildren {
  readonly #credentials: CallerCredentials;
  readonly #make: (spec: ServerSpec) => Child;
  /** By server, then account. */
  readonly #children = new Map<ServerId, Map<string, Child>>();
  /** Let in no longer, but still finishing calls. */
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

  /** Of this account, with what it is let in with at this moment. Throws where it is not. Every call comes by. */
  of(base: ServerSpec, account: string | undefined): Child {
    const spec = this.#credentials.of(base, account);
    if (MetaMcpError.is(spec)) throw spec;
    const children = this.#at(idOf(base));
    const known = children.get(account as string);
    if (known) {
      if (known.connections.spec !== spec) known.connections.apply(spec);
      return known;
    }
    if (children.size >= MOST_IDLE) forgetIdle(children);
    const child = this.#make(spec);
    children.set(account as string, child);
    return child;
  }

  /** Without making one. */
  find(base: ServerSpec, account: string | undefined): Child | undefined {
    return account === undefined ? undefined : this.#children.get(idOf(base))?.get(account);
  }

  /** As this caller finds it; for all together where none is named. */
  status(base: ServerSpec, asker: Pick<Asker, "principal"> | undefined): ChildStatus {
    const { criticality } = base;
    const name = idOf(base);
    if (!asker)
      return joinedStatus(
        base,
        this.at(name).map((child) => child.status()),
      );
    const account = accountOf(asker.principal);
    const spec = this.#credentials.of(base, account);
    const down = { name, criticality, connected: false, state: "failed" } as const;
    if (MetaMcpError.is(spec)) return { ...down, reason: `${spec.code}: ${spec.message}`, refusal: spec };
    return this.find(base, account)?.status() ?? { ...down, state: "idle" };
  }

  /** The server is reached otherwise, or credentials changed: who is let in otherwise is dialled anew, who no longer is, is not. */
  settle(base: ServerSpec): void {
    const children = this.#children.get(idOf(base)) ?? new Map<string, Child>();
    for (const [account, child] of children) {
      const spec = this.#credentials.of(base, account);
      if (!MetaMcpError.is(spec)) child.connections.apply(spec);
      else {
        children.delete(account);
        this.#leave(child, spec);
      }
    }
  }

  /** No account is let in as itself there any more. */
  remove(server: ServerId, reason: MetaMcpError): void {
    for (const child of this.at(server)) this.#leave(child, reason);
    this.#children.delete(server);
  }

  #leave(child: Child, reason: MetaMcpError): void {
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

function forgetIdle(children: Map<string, Child>): void {
  for (const [account, { connections }] of children)
    if (connections.current.length === 0) children.delete(account);
}
