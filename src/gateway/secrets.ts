/** Where a server keeps secrets, and how they are shown and taken. Sealing itself is done by others. */
import { isRecord } from "../kernel/is-record.ts";
import type { Sealed, StoredSecret } from "./objects.ts";

/** Shown in place of a secret; sent back, it keeps what is stored. */
export const MASK = "********";

export interface Vault {
  seal(text: string): Sealed;
  open(sealed: Sealed): string;
}

type Fields = Readonly<Record<string, unknown>>;
export type SecretPath = readonly [field: "env" | "headers" | "oauth", name: string];

/** Wholly one `${VAR}` or `${user.…}`: it names a secret and holds none. A default could be one. */
export function isReference(text: string): boolean {
  return /^\$\{[A-Za-z_][\w.]*\}$/.test(text);
}

export function shown(secret: StoredSecret): string {
  return typeof secret === "string" ? secret : MASK;
}

export function opened(secret: StoredSecret, vault: Pick<Vault, "open">): string {
  return typeof secret === "string" ? secret : vault.open(secret);
}

/** What to store for a value that was sent. Undefined for a mask behind which nothing is stored. */
export function secretToStore(
  sent: string,
  stored: StoredSecret | undefined,
  vault: Vault,
): StoredSecret | undefined {
  if (sent === MASK) return stored;
  if (isReference(sent)) return sent;
  // Sealing anew would look like a change.
  if (typeof stored === "object" && vault.open(stored) === sent) return stored;
  return vault.seal(sent);
}

/** A copy with every secret replaced; undefined leaves it out. Objects without secrets are returned as they are. */
export function mapSecrets(
  server: Fields,
  replace: (value: unknown, path: SecretPath) => unknown,
): Record<string, unknown> {
  const mapped: Record<string, unknown> = { ...server };
  for (const field of ["env", "headers"] as const) {
    const values = server[field];
    if (isRecord(values)) mapped[field] = mapValues(values, (value, name) => replace(value, [field, name]));
  }
  const { oauth } = server;
  if (isRecord(oauth)) {
    mapped["oauth"] = mapValues(oauth, (value, name) =>
      name === "clientSecret" ? replace(value, ["oauth", name]) : value,
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

/** The secret that is stored at that place. */
export function secretAt(server: object | undefined, [field, name]: SecretPath): StoredSecret | undefined {
  const values = (server as Fields | undefined)?.[field];
  return isRecord(values) && Object.hasOwn(values, name) ? (values[name] as StoredSecret) : undefined;
}
