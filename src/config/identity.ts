/** When two specs are the same server, and when they are reached the same way. Secrets enter only as part of a hash. */
import { createHash } from "node:crypto";
import { isAbsolute } from "node:path";
import { revealed, type Secrets } from "../kernel/secret.ts";
import type { RemoteSpec, ServerSpec, StdioSpec } from "./spec.ts";

/** Variables that choose an account. Part of what is kept on disk by identity: to change it is to forget that. */
const ACCOUNT_NAME = /token|key|secret|pass|pwd|credential|auth|bearer|cookie|private|dsn|(?:^|_)pat(?:$|_)/i;

/** What it goes by in the engine. */
export function idOf({ id, name }: Pick<ServerSpec, "id" | "name">): string {
  return id ?? name;
}

/** Who a server is, for what is kept about it: command, args, url, names of variables, and credential. */
export function identityOf(spec: ServerSpec): string {
  const whose = spec.perAccount === undefined ? [] : [spec.perAccount];
  if (spec.kind !== "stdio")
    return hash(["url", spec.url, hash([sorted(spec.headers), oauthOf(spec)]), ...whose]);
  const { command, args, env } = spec;
  const secrets = sorted(env).filter(([name]) => ACCOUNT_NAME.test(name));
  const reached = [Object.keys(env).toSorted(), hash(secrets), placeOf(spec)];
  return hash(["command", command, args, ...reached, ...whose]);
}

/** `node ./server.js` is another server in another folder; `npx some-package` is not. */
function placeOf({ command, args, cwd }: StdioSpec): string | undefined {
  return [command, ...args].some(mayBeRelativePath) ? cwd : undefined;
}

export function mayBeRelativePath(word: string): boolean {
  return !isAbsolute(word) && /[./]/.test(word) && !/^-|[@:]/.test(word);
}

/** Changes exactly when a connection made with the one would be wrong for the other. */
export function dialOf(spec: ServerSpec): string {
  const { kind, perAccount, credential } = spec;
  const whose = perAccount === undefined ? [] : [perAccount, credential];
  if (kind !== "stdio") return hash([kind, spec.url, sorted(spec.headers), oauthOf(spec), ...whose]);
  const { command, args, env, cwd, inheritEnv, instances } = spec;
  return hash([kind, command, args, sorted(env), cwd, inheritEnv, instances, ...whose]);
}

export function sameDial(a: ServerSpec, b: ServerSpec): boolean {
  return a === b || dialOf(a) === dialOf(b);
}

function oauthOf({ oauth }: RemoteSpec): object | undefined {
  return oauth?.clientSecret ? { ...oauth, clientSecret: oauth.clientSecret.reveal() } : oauth;
}

function sorted(map: Secrets): readonly (readonly [string, string])[] {
  return Object.entries(revealed(map)).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function hash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}
