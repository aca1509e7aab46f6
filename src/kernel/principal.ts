/**
 * The principal of a request and the endpoint it came to. Set where the request is authenticated, and trusted
 * everywhere else.
 */
import { extended, object, type Static, TEXT } from "./json-schema.ts";

export interface Principal {
  /** Unique among principals of all kinds. */
  readonly id: string;
  /** "local": the user of this process. "anonymous": the caller was not authenticated. */
  readonly kind: "local" | "anonymous" | "token" | "account" | "key";
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  /** A name for people: an e-mail address, or the name of a key. */
  readonly name?: string;
  /** The name was given by the caller and is not verified. */
  readonly claimed?: boolean;
  /** The API key that an account used. Its owner chose the name. */
  readonly key?: { readonly id: string; readonly name: string };
  /** The OAuth client that an account used. With a key: the machine client that the key is. */
  readonly client?: string;
  /** The external issuer of the token that an account used. */
  readonly issuer?: string;
  /** The network of a caller that was not authenticated. It gives no rights; see `shareOf`. */
  readonly network?: string;
  /** The principal sees only tools of these tiers; all by default. */
  readonly tiers?: readonly Tier[];
  /** The person who really acts, if an administrator tries a call as this principal. */
  readonly actor?: Actor;
}

export const ACTOR = object({ kind: TEXT, id: TEXT, name: TEXT });
/** A person or key as records name it. */
export type Actor = Static<typeof ACTOR>;

export const CALLER = extended(
  ACTOR,
  {},
  {
    key: { ...object({ id: TEXT, name: TEXT }), description: "the API key that the account used" },
    actor: {
      ...ACTOR,
      description: "the person who really acted, if somebody tried this as another account",
    },
  },
);
/** Who made a call, as records name them. */
export type CallActor = Static<typeof CALLER>;

/**
 * The tier of a tool by its annotations: `readOnlyHint: true`, otherwise `destructiveHint: true`, otherwise
 * "write".
 */
export const TIERS = ["readOnly", "write", "destructive"] as const;
export type Tier = (typeof TIERS)[number];

export interface Identity {
  /** Id of the endpoint that the request came to. */
  readonly endpoint: string;
  readonly principal: Principal;
}

/** The one endpoint of personal mode. */
export const PERSONAL = "personal";

export const LOCAL_USER: Principal = { id: "local", kind: "local", roles: [], groups: [] };
export const ANONYMOUS: Principal = { id: "anonymous", kind: "anonymous", roles: [], groups: [] };

/** A caller without credentials. */
export function strangerFrom(network: string): Principal & { readonly network: string } {
  return { ...ANONYMOUS, network };
}

/** The user of this process in personal mode. */
export const LOCAL: Identity = { endpoint: PERSONAL, principal: LOCAL_USER };

/**
 * The account of a principal, with any key or client; undefined if it is no account. Also undefined for an
 * administrator who tries a call as this account: logins and secrets of the account at servers are only for
 * the account itself.
 */
export function accountOf({ kind, id, actor }: Pick<Principal, "kind" | "id" | "actor">): string | undefined {
  return kind === "account" && !actor ? id : undefined;
}

export function actorOf({ kind, id, name = id }: Principal): Actor {
  return { kind, id, name };
}

/**
 * Identifies the owner of a session, a stored result or a task. The same account with another key or client,
 * or tried by an administrator, is another owner.
 */
export function holderKey({ id, key, client, actor }: Principal): string {
  return key || client !== undefined || actor ? JSON.stringify([id, key?.id, client, actor?.id]) : id;
}

/**
 * Whose share of sessions, stored results, queues and other limited room a principal uses. All keys and
 * clients of an account have one, because it can get as many as it likes. Unauthenticated callers have one
 * for each network.
 */
export function shareOf({ id, network }: Principal): string {
  return network === undefined ? id : `${id} ${network}`;
}

/**
 * Whether one principal may continue what the other began. Unauthenticated callers cannot be distinguished,
 * so they count as the same.
 */
export function samePrincipal(a: Principal, b: Principal): boolean {
  return a === b || holderKey(a) === holderKey(b) || (a.kind === "anonymous" && b.kind === "anonymous");
}

/**
 * Whether `other` matches the given principal. Without a key or client, all principals with the same id
 * match.
 */
export function matchesPrincipal({ id, key, client }: Principal, other: Principal): boolean {
  if (id !== other.id || (key && key.id !== other.key?.id)) return false;
  return client === undefined || client === other.client;
}
