/**
 * Decides whether two specs are the same server, and whether they are reached in the same way. Secrets are
 * used only inside of a hash.
 */
import { createHash } from "node:crypto";
import { isAbsolute } from "node:path";
import { isRecord } from "../kernel/is-record.ts";
import { revealed, Secret, type Secrets } from "../kernel/secret.ts";
import { fieldsWhere } from "./server-fields.ts";
import type { RemoteSpec, ServerSpec, StdioSpec } from "./spec.ts";

/**
 * Names of variables that select an account. Their values are part of the identity. Changing this pattern
 * changes identities, so data stored under them is lost.
 */
const ACCOUNT_NAME = /token|key|secret|pass|pwd|credential|auth|bearer|cookie|private|dsn|(?:^|_)pat(?:$|_)/i;

/** The id in the engine. */
export function idOf({ id, name }: Pick<ServerSpec, "id" | "name">): string {
  return id ?? name;
}

/** Identifies a server for data stored about it: command, args, url, names of variables, and credential. */
export function identityOf(spec: ServerSpec): string {
  const account = spec.perAccount === undefined ? [] : [spec.perAccount];
  if (spec.kind !== "stdio") {
    const document = spec.kind === "openapi" ? [spec.openapi] : [];
    return hash(["url", spec.url, hash([sorted(spec.headers), oauthOf(spec)]), ...account, ...document]);
  }
  const { command, args, env } = spec;
  const secrets = sorted(env).filter(([name]) => ACCOUNT_NAME.test(name));
  const reached = [Object.keys(env).toSorted(), hash(secrets), folderOf(spec)];
  return hash(["command", command, args, ...reached, ...account]);
}

/**
 * The working directory, if the command may contain a relative path: `node ./server.js` is another server in
 * another folder, `npx some-package` is not.
 */
function folderOf({ command, args, cwd }: StdioSpec): string | undefined {
  return [command, ...args].some(mayBeRelativePath) ? cwd : undefined;
}

export function mayBeRelativePath(word: string): boolean {
  return !isAbsolute(word) && /[./]/.test(word) && !/^-|[@:]/.test(word);
}

const DIALED = fieldsWhere(({ effect }) => effect === "runs" || effect === "dials");

/** Changes exactly when existing connections do not fit any more. */
export function dialOf(spec: ServerSpec): string {
  const { kind, perAccount, credential } = spec;
  const values = spec as unknown as Readonly<Record<string, unknown>>;
  return hash([kind, DIALED.map((name) => comparable(values[name])), perAccount, credential]);
}

/** With secrets revealed and names sorted. */
function comparable(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal();
  if (!isRecord(value)) return value;
  return Object.keys(value)
    .toSorted()
    .map((name) => [name, comparable(value[name])]);
}

export function sameDial(a: ServerSpec, b: ServerSpec): boolean {
  return a === b || dialOf(a) === dialOf(b);
}

function oauthOf({ oauth }: RemoteSpec): object | undefined {
  if (!oauth?.clientSecret && !oauth?.privateKey) return oauth;
  const { clientSecret, privateKey, ...rest } = oauth;
  return { ...rest, clientSecret: clientSecret?.reveal(), privateKey: privateKey?.reveal() };
}

function sorted(map: Secrets): readonly (readonly [string, string])[] {
  return Object.entries(revealed(map)).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function hash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}
