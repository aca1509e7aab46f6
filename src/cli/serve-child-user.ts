/** Prepares the user that local servers of a gateway run as (`--child-user`). */
import { chmod } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ChildUser } from "../child/child-user.ts";
import { type FlagValues, UsageError } from "../config/command-line.ts";
import type { Settings } from "../config/flags.ts";
import type { SERVE_FLAGS } from "../config/gateway-flags.ts";
import { makeFolder } from "../home/file.ts";
import type { Env } from "../home/home.ts";

/** Undefined if servers run as the user of the gateway. */
export async function childUserOf(
  settings: Settings & FlagValues<typeof SERVE_FLAGS>,
  home: string,
  env: Env,
): Promise<ChildUser | undefined> {
  const { childUser: user, tlsKey, logFile, auditFile, noCode } = settings;
  if (user === undefined) return undefined;
  const own = [join(home, "gateway"), join(home, "gateway", "secret.key"), tlsKey, logFile, auditFile];
  const files = Object.entries(env).flatMap(([name, path]) => (/^METAMCP_\w+_FILE$/.test(name) ? path : []));
  const hidden = [...own, ...files].flatMap((path) => (path === undefined ? [] : resolve(path)));
  try {
    const { childUser } = await import("../child/child-user.ts");
    const { hostFile } = await import("../sandbox/wasm.ts");
    const found = await childUser(user, { needed: noCode ? [] : [hostFile()], hidden });
    await openBundles(home);
    return found;
  } catch (error) {
    throw new UsageError(`--child-user ${user}: ${(error as Error).message}.`);
  }
}

/** Lets other users run installed bundles. Everything else in the home folder has modes of its own. */
async function openBundles(home: string): Promise<void> {
  const bundles = join(home, "bundles");
  await makeFolder(bundles);
  for (const path of [home, bundles]) await chmod(path, 0o711);
}
