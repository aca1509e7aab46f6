/**
 * The user that local servers run as, if that is not the user of the gateway. Checks that it works and keeps
 * them apart.
 */
import { execFile } from "node:child_process";
import { chown, lstat, mkdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { codeOf } from "../home/file.ts";

export interface ChildUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** Its own folder, which it can write. */
  readonly home: string;
}

/** What the user must and must not be able to read. Paths that do not exist are skipped. */
export interface ChildUserPaths {
  readonly needed: readonly string[];
  readonly hidden: readonly string[];
}

/**
 * Resolves `NAME`, `UID` or `UID:GID`. Rejects if servers could not run as this user, or could still act as
 * the gateway.
 */
export async function childUser(text: string, paths: ChildUserPaths): Promise<ChildUser> {
  if (process.platform === "win32") throw new Error("it does not work on Windows");
  const { home, ...found } = await find(text);
  if (found.uid === process.geteuid?.()) throw new Error(`${text} is the user of the gateway itself`);
  if (found.uid === 0) throw new Error("servers cannot run as root");
  const candidate = home ?? join(tmpdir(), `metamcp-servers-${found.uid}`);
  const first = await probe({ ...found, home: candidate }, paths);
  if (first.writable) return { ...found, home: candidate };
  const user = { ...found, home: await makeHome(found) };
  if (!(await probe(user, paths)).writable)
    throw new Error(`${text} cannot write to its folder ${user.home}`);
  return user;
}

async function find(
  text: string,
): Promise<Pick<ChildUser, "name" | "uid" | "gid"> & { readonly home: string | undefined }> {
  const [, number, group] = /^(\d+)(?::(\d+))?$/.exec(text) ?? [];
  const lines = (await readFile("/etc/passwd", "utf8").catch(() => "")).split("\n");
  const entry = lines
    .map((line) => line.split(":"))
    .find(([name, , uid]) => (number === undefined ? name === text : uid === number));
  const [name = text, , uid = number, gid = number, , home] = entry ?? [];
  if (uid === undefined || gid === undefined)
    throw new Error(`there is no user ${text} in /etc/passwd; use UID or UID:GID`);
  return { name, uid: Number(uid), gid: Number(group ?? gid), home };
}

/** A folder for a user without one. Nobody else may have made it: they could read what servers write. */
async function makeHome({ uid, gid }: Pick<ChildUser, "uid" | "gid">): Promise<string> {
  const path = join(tmpdir(), `metamcp-servers-${uid}`);
  try {
    await mkdir(path, { mode: 0o700 });
    await chown(path, uid, gid);
  } catch (error) {
    if (codeOf(error) !== "EEXIST")
      throw new Error(
        `it cannot write its home folder, and ${path} cannot be created for it (${codeOf(error)})`,
      );
  }
  const folder = await lstat(path);
  if (!folder.isDirectory() || folder.uid !== uid)
    throw new Error(`${path} belongs to somebody else: remove it`);
  return path;
}

interface Probed {
  readonly writable: boolean;
}

/** Runs as the user. Node itself, because the program file can carry capabilities. */
const PROBE = `
const { accessSync, constants, readFileSync } = require("node:fs");
const can = (path, mode) => { try { accessSync(path, mode); return true; } catch (error) { return error.code === "ENOENT" ? undefined : false; } };
const [home, needed, hidden] = JSON.parse(process.argv[1]);
const status = process.platform === "linux" ? readFileSync("/proc/self/status", "utf8") : "";
console.log(JSON.stringify({
  uids: [process.getuid(), process.geteuid()], gids: [process.getgid(), process.getegid()], groups: process.getgroups(),
  capabilities: /^Cap(?:Prm|Eff|Amb):\\s*0*[1-9a-f]/m.test(status),
  writable: can(home, constants.W_OK | constants.X_OK) === true,
  unreadable: needed.filter((path) => can(path, constants.R_OK) === false),
  readable: hidden.filter((path) => can(path, constants.R_OK) === true),
}));`;

async function probe({ name, uid, gid, home }: ChildUser, paths: ChildUserPaths): Promise<Probed> {
  const args = ["-e", PROBE, JSON.stringify([home, paths.needed, paths.hidden])];
  let text: string;
  try {
    const options = { uid, gid, cwd: "/", env: {}, timeout: 20_000 };
    const running = promisify(execFile)(process.execPath, args, options);
    if (running.child.pid !== undefined) process.kill(running.child.pid, 0);
    text = (await running).stdout;
  } catch (error) {
    const code = codeOf(error);
    if (code === "EPERM")
      throw new Error(
        "the gateway may not start processes as another user: run it as root, or with the capabilities SETUID, SETGID and KILL",
      );
    throw new Error(`${name} cannot run ${process.execPath} (${code ?? (error as Error).message})`);
  }
  const found = JSON.parse(text) as Probed & {
    readonly uids: number[];
    readonly gids: number[];
    readonly groups: number[];
    readonly capabilities: boolean;
    readonly unreadable: string[];
    readonly readable: string[];
  };
  const groups = [...found.gids, ...found.groups];
  if (found.uids.some((one) => one !== uid) || groups.some((one) => one !== gid))
    throw new Error(
      `processes of ${name} keep the user or the groups of the gateway; run the gateway as root`,
    );
  if (found.capabilities)
    throw new Error(`processes of ${name} keep capabilities of the gateway; run the gateway as root`);
  const [open] = found.readable;
  if (open !== undefined)
    throw new Error(`${name} can read ${open}, so servers could too: chmod go-rwx ${open}`);
  const [closed] = found.unreadable;
  if (closed !== undefined) throw new Error(`${name} cannot read ${closed}, which it needs`);
  return found;
}
