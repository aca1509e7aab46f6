/**
 * The secret fields of a server and of the settings: how they are shown, accepted and stored. Does not
 * encrypt; the vault does.
 */
import { isRecord } from "../kernel/is-record.ts";
import { isReference } from "../kernel/secret-arguments.ts";
import type { Sealed, StoredSecret } from "./objects.ts";

/** Shown instead of a secret. Sending it back keeps the stored secret. */
export const MASK = "********";

export interface Vault {
  seal(text: string): Sealed;
  open(sealed: Sealed): string;
  /**
   * Never compares a sent secret with the stored one: each counts as a change, so that nobody can try out
   * guesses.
   */
  readonly discreet?: boolean;
}

/** The members of `oauth` that are secret. */
export const OAUTH_SECRETS: ReadonlySet<string> = new Set(["clientSecret", "privateKey"]);

type Fields = Readonly<Record<string, unknown>>;
export type SecretPath = readonly [field: "env" | "headers" | "secrets" | "oauth", name: string];

export function shown(secret: StoredSecret): string {
  return typeof secret === "string" ? secret : MASK;
}

export function opened(secret: StoredSecret, vault: Pick<Vault, "open">): string {
  return typeof secret === "string" ? secret : vault.open(secret);
}

/** The value to store for a received one. Undefined for a mask if nothing is stored. */
export function secretToStore(
  sent: string,
  stored: StoredSecret | undefined,
  vault: Vault,
): StoredSecret | undefined {
  if (sent === MASK) return stored;
  if (isReference(sent)) return sent;
  // Sealing the same value again gives another text, which would count as a change.
  if (typeof stored === "object" && !vault.discreet && vault.open(stored) === sent) return stored;
  return vault.seal(sent);
}

/**
 * Returns a copy with every secret replaced; undefined removes it. Returns objects without secrets unchanged.
 */
export function mapSecrets(
  server: Fields,
  replace: (value: unknown, path: SecretPath) => unknown,
): Record<string, unknown> {
  const mapped: Record<string, unknown> = { ...server };
  for (const field of ["env", "headers", "secrets"] as const) {
    const values = server[field];
    if (isRecord(values)) mapped[field] = mapValues(values, (value, name) => replace(value, [field, name]));
  }
  const { oauth } = server;
  if (isRecord(oauth)) {
    mapped["oauth"] = mapValues(oauth, (value, name) =>
      OAUTH_SECRETS.has(name) ? replace(value, ["oauth", name]) : value,
    );
  }
  return mapped;
}

function mapValues(values: Fields, map: (value: unknown, name: string) => unknown): Fields {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const mapped = map(value, name);
      return mapped === undefined ? [] : [[name, mapped]];
    }),
  );
}

/** The stored secret in that field. */
export function secretAt(server: object | undefined, [field, name]: SecretPath): StoredSecret | undefined {
  const values = (server as Fields | undefined)?.[field];
  return isRecord(values) && Object.hasOwn(values, name) ? (values[name] as StoredSecret) : undefined;
}
