/**
 * Checks the places that a sandbox lists, and finds secrets inside of them, which stay hidden unless they are
 * listed themselves.
 */
import { realpathSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { isInside, type Sandbox } from "../../../config/sandbox.ts";
import { ChildFailure } from "../../link.ts";
import type { Jail, Mount } from "./bubblewrap.ts";

/** Below a home folder. Where programs keep what identifies the user. */
const SECRETS = [
  ".aws",
  ".azure",
  ".bash_history",
  ".cargo/credentials.toml",
  ".claude",
  ".claude.json",
  ".codex",
  ".config/chromium",
  ".config/gcloud",
  ".config/gh",
  ".config/google-chrome",
  ".config/op",
  ".docker",
  ".git-credentials",
  ".gnupg",
  ".kube",
  ".local/share/keyrings",
  ".mozilla",
  ".netrc",
  ".npmrc",
  ".password-store",
  ".pgpass",
  ".pypirc",
  ".ssh",
  ".terraform.d",
  ".vault-token",
  ".zsh_history",
];
/** Sockets with which a program can act as the user, or as root. */
const SOCKETS = ["/run", "/var/run", "/tmp/.X11-unix", "/tmp/.ICE-unix"];

export interface Homes {
  /** METAMCP_HOME, without links. */
  readonly metamcp: string;
  /** Of the user that runs servers. */
  readonly user: string;
}

/** The program that runs us, and our own code with its data. */
const OWN_PROGRAM = [realpathSync(process.execPath), fileURLToPath(import.meta.url)];

/** Rejects with ChildFailure if a place does not exist, leads elsewhere, or is a place of MetaMCP. */
export async function listedPlaces(
  { folder, read, write }: Sandbox,
  homes: Homes,
): Promise<Pick<Jail, "listed" | "hidden">> {
  const writable = [...(folder === undefined ? [] : [folder]), ...write];
  const all = [
    ...read.map((path) => ({ path, writable: false })),
    ...writable.map((path) => ({ path, writable: true })),
  ];
  for (const { path, writable } of all) await check(path, writable, homes);
  // A server could replace a place inside of one that it can write by a link to anywhere.
  const isCovered = (path: string): boolean => writable.some((one) => one !== path && isInside(path, one));
  const listed = all
    .filter(({ path }) => !isCovered(path))
    .map(({ path, writable }): Mount => ({ from: path, to: path, writable }))
    .toSorted((a, b) => a.to.split(sep).length - b.to.split(sep).length);
  const places = listed.map(({ to }) => to);
  return { listed, hidden: await secretsIn(places, homes) };
}

async function check(path: string, writable: boolean, { metamcp, user }: Homes): Promise<void> {
  const real = await realOf(path);
  if (real === undefined)
    throw unusable(`${path} of its "sandbox" does not exist: create it, or remove it there`);
  const linked = (await realOf(user)) ?? user;
  // A home folder itself may be a link.
  const plain = isInside(path, user) ? join(linked, path.slice(user.length)) : path;
  if (real !== plain) throw unusable(`${path} of its "sandbox" leads to ${real}: list that instead`);
  if (isInside(real, metamcp))
    throw unusable(`${path} of its "sandbox" is a place of MetaMCP: remove it there`);
  // A mount over them would not hold: a folder between can be renamed, and another one put in its place.
  if (writable && [metamcp, ...OWN_PROGRAM].some((own) => isInside(own, real)))
    throw unusable(
      `${path} contains places of MetaMCP, so a server that may write there could leave its sandbox: list single folders in "write", and set "cwd" to another folder`,
    );
}

/** Rejects with ChildFailure if the script of an interpreter is not in the places of the floor. */
export function checkScript(
  script: string | undefined,
  { name }: { readonly name: string },
  { within }: Sandbox,
  homes: Homes,
): void {
  if (script && within && !isBundle(script, homes) && !within.some((place) => isInside(script, place)))
    throw unusable(
      `${name}: its program is in ${script}, which an administrator does not allow servers to read: have it added to "read" of the floor in the settings`,
    );
}

/** Where MetaMCP itself keeps programs of servers. */
export function isBundle(path: string, { metamcp }: Pick<Homes, "metamcp">): boolean {
  return isInside(path, join(metamcp, "bundles"));
}

async function secretsIn(places: readonly string[], { metamcp, user }: Homes): Promise<Jail["hidden"]> {
  const all = [metamcp, ...SECRETS.map((name) => join(user, name)), ...SOCKETS];
  const folders: string[] = [];
  const files: string[] = [];
  for (const named of all) {
    // People keep such folders elsewhere, with a link in their place.
    const path = await realOf(named);
    if (path === undefined) continue;
    const isListed = places.some((place) => isInside(place, path) || isInside(place, named));
    if (isListed || !places.some((place) => isInside(path, place))) continue;
    const isFolder = (await stat(path)).isDirectory();
    (isFolder ? folders : files).push(path);
  }
  return { folders: [...new Set(folders)], files: [...new Set(files)] };
}

/** Without links; undefined if there is nothing. */
export async function realOf(path: string): Promise<string | undefined> {
  return await realpath(path).catch(() => undefined);
}

export function unusable(message: string, cause?: unknown): ChildFailure {
  return new ChildFailure("offline", message, { unsent: true, needsFix: true, cause });
}
