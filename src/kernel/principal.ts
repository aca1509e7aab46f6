/** Who asks, and where. Whoever authenticates a request says so; nobody behind it guesses. */

export interface Principal {
  /** Unique among principals of all kinds. */
  readonly id: string;
  /** "local": the user whose process this is. "anonymous": nobody has checked who it is. */
  readonly kind: "local" | "anonymous" | "token" | "account" | "key";
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  /** As people know it: an e-mail address, the name of a key. */
  readonly name?: string;
  /** Its name is what it calls itself: nobody has checked that it is theirs. */
  readonly claimed?: boolean;
  /** The API key that an account came with. Its owner gave it the name. */
  readonly key?: { readonly id: string; readonly name: string };
  /** The OAuth client that an account came with. */
  readonly client?: string;
  /** Only tools of these tiers exist for it; all unless given. */
  readonly tiers?: readonly Tier[];
  /** Who really acts, where somebody tries things out in the name of this one. */
  readonly actor?: Actor;
}

/** Somebody as records name them. */
export interface Actor {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
}

/** What a tool's annotations say that it does: `readOnlyHint: true`, else `destructiveHint: true`, else "write". */
export type Tier = "readOnly" | "write" | "destructive";

export interface Identity {
  /** Id of the endpoint that the request came to. */
  readonly endpoint: string;
  readonly principal: Principal;
}

/** The one endpoint of personal mode. */
export const PERSONAL = "personal";

export const LOCAL_USER: Principal = { id: "local", kind: "local", roles: [], groups: [] };
export const ANONYMOUS: Principal = { id: "anonymous", kind: "anonymous", roles: [], groups: [] };

/** The user of this process in personal mode. */
export const LOCAL: Identity = { endpoint: PERSONAL, principal: LOCAL_USER };

/**
 * The account that somebody acts for, by whichever key or client; undefined where it is none. What an account keeps for
 * itself, its logins and secrets at servers, is not there for whoever tries things out in its name.
 */
export function accountOf({ kind, id, actor }: Pick<Principal, "kind" | "id" | "actor">): string | undefined {
  return kind === "account" && !actor ? id : undefined;
}

/** Whose a session, a stored result or a task is: an account that comes with another key or client is somebody else there, and so is who acts in its name. */
export function holderKey({ id, key, client, actor }: Principal): string {
  return key || client !== undefined || actor ? JSON.stringify([id, key?.id, client, actor?.id]) : id;
}

/** Whether what was begun by one may be continued by the other. A credential that nobody checked proves nothing either way. */
export function samePrincipal(a: Principal, b: Principal): boolean {
  return a === b || holderKey(a) === holderKey(b) || (a.kind === "anonymous" && b.kind === "anonymous");
}

/** Whether `other` is among those meant: without a key or client all of that id are. */
export function isMeant({ id, key, client }: Principal, other: Principal): boolean {
  if (id !== other.id || (key && key.id !== other.key?.id)) return false;
  return client === undefined || client === other.client;
}
