/**
 * The folder in which npx keeps a package, and the advice for one that an interrupted install has left
 * half-written. Deletes nothing.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { StdioSpec } from "../../config/spec.ts";
import type { Environment } from "./spawn.ts";

const NPX = /(^|[\\/])npx(\.cmd)?$/;
/** Options of npx with a value of their own. */
const WITH_VALUE = new Set(["-p", "--package", "-c", "--call", "-w", "--workspace", "--cache", "--registry"]);
/** The folder in an error text. */
const IN_TEXT = /[^\s'"(]*[\\/]_npx[\\/][0-9a-f]{16}(?=[\\/])/;
/** What node and npm print when files of an installed package are missing or damaged. */
const BROKEN =
  /Invalid Version|ENOTEMPTY|ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND|Cannot find (?:module|package)|ERR_INVALID_PACKAGE_CONFIG|could not determine executable|Could not read/;
const DAMAGED_DOWNLOAD = /EINTEGRITY|ECONTENTDIGEST|Z_DATA_ERROR|TAR_BAD_ARCHIVE/;

/**
 * Where npx installs the packages of this entry; undefined if the command is not npx, or what it installs is
 * not known.
 */
export function npxFolder(
  { command, args }: Pick<StdioSpec, "command" | "args">,
  env: Environment,
): string | undefined {
  if (!NPX.test(command)) return undefined;
  const packages = packagesIn(args);
  const cache =
    env["npm_config_cache"] ?? env["NPM_CONFIG_CACHE"] ?? (env["HOME"] && join(env["HOME"], ".npm"));
  if (packages.length === 0 || !cache) return undefined;
  const sorted = packages.toSorted((a, b) => a.localeCompare(b, "en"));
  const name = createHash("sha512").update(sorted.join("\n")).digest("hex").slice(0, 16);
  return join(cache, "_npx", name);
}

function packagesIn(args: readonly string[]): readonly string[] {
  const named: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    const [, given] = /^--package=(.+)$/s.exec(arg) ?? [];
    if (given !== undefined) named.push(given);
    else if (arg === "-p" || arg === "--package") named.push(args[++at] ?? "");
    else if (WITH_VALUE.has(arg)) at++;
    else if (!arg.startsWith("-")) return named.length > 0 ? named : [arg];
  }
  return named;
}

/** Whether npx has installed these packages before, at least in part. */
export function isInstalled(folder: string | undefined): boolean {
  return folder !== undefined && existsSync(join(folder, "package.json"));
}

/** How to repair the cache, if the output shows that it is broken. */
export function cacheAdvice(output: string, folder: string | undefined): string | undefined {
  const shown = IN_TEXT.exec(output)?.[0];
  if (DAMAGED_DOWNLOAD.test(output) && (folder || shown))
    return "A download of npm is damaged. To fix it run: npm cache clean --force";
  const where = shown ?? (/npm (error|ERR!)/.test(output) ? folder : undefined);
  if (!where || !BROKEN.test(output)) return undefined;
  return `The npx cache of this package looks broken, perhaps by an interrupted install. To fix it run: ${removal(where)}`;
}

/** The command that removes the folder. */
export function removal(folder: string): string {
  return `rm -rf ${/^[\w@%+=:,./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`}`;
}
