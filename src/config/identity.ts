/** When two specs are the same server, and when they are reached the same way. Secrets enter only as part of a hash. */
import { createHash } from "node:crypto";
import { isAbsolute } from "node:path";
import type { ServerSpec, StdioSpec } from "./spec.ts";

const SECRET_NAME = /token|key|secret|pass|pwd|credential|auth|bearer|cookie|private|dsn|(?:^|_)pat(?:$|_)/i;

/** Who a server is, for what is kept about it: command, args, url, names of variables, and credential. */
export function identityOf(spec: ServerSpec): string {
  if (spec.kind !== "stdio") return hash(["url", spec.url, hash([sorted(spec.headers), spec.oauth])]);
  const { command, args, env } = spec;
  const secrets = sorted(env).filter(([name]) => SECRET_NAME.test(name));
  return hash(["command", command, args, Object.keys(env).toSorted(), hash(secrets), placeOf(spec)]);
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
  if (spec.kind !== "stdio") return hash([spec.kind, spec.url, sorted(spec.headers), spec.oauth]);
  const { kind, command, args, env, cwd, inheritEnv } = spec;
  return hash([kind, command, args, sorted(env), cwd, inheritEnv]);
}

export function sameDial(a: ServerSpec, b: ServerSpec): boolean {
  return a === b || dialOf(a) === dialOf(b);
}

function sorted(map: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function hash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}
