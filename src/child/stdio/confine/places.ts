/**
 * Checks the places that a sandbox lists, and finds secrets inside of them, which stay hidden unless they are
 * listed themselves.
 */
import { lstat, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
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
  /** METAMCP_HOME. */
  readonly metamcp: string;
  /** Of the user that runs servers. */
  readonly user: string;
}

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
  for (const { path } of all) await check(path, homes);
  // A server could replace a place inside of one that it can write by a link to anywhere.
  const isCovered = (path: string): boolean => writable.some((one) => one !== path && isInside(path, one));
  const listed = all
    .filter(({ path }) => !isCovered(path))
    .map(({ path, writable }): Mount => ({ from: path, to: path, writable }))
    .toSorted((a, b) => a.to.split(sep).length - b.to.split(sep).length);
  const places = listed.map(({ to }) => to);
  return { listed, hidden: await secretsIn(places, homes) };
}

async function check(path: string, { metamcp, user }: Homes): Promise<void> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined)
    throw unusable(`${path} of its "sandbox" does not exist: create it, or remove it there`);
  const home = (await realpath(user).catch(() => undefined)) ?? user;
  // A home folder itself may be a link.
  const plain = isInside(path, user) ? join(home, path.slice(user.length)) : path;
  if (real !== plain) throw unusable(`${path} of its "sandbox" leads to ${real}: list that instead`);
  if (isInside(real, metamcp))
    throw unusable(`${path} of its "sandbox" is a place of MetaMCP: remove it there`);
}

async function secretsIn(places: readonly string[], { metamcp, user }: Homes): Promise<Jail["hidden"]> {
  const all = [metamcp, ...SECRETS.map((name) => join(user, name)), ...SOCKETS];
  const folders: string[] = [];
  const files: string[] = [];
  for (const path of all) {
    const isListed = places.some((place) => isInside(place, path));
    if (isListed || !places.some((place) => isInside(path, place))) continue;
    const found = await lstat(path).catch(() => undefined);
    if (found?.isDirectory()) folders.push(path);
    else if (found && !found.isSymbolicLink()) files.push(path);
  }
  return { folders, files };
}

export function unusable(message: string, cause?: unknown): ChildFailure {
  return new ChildFailure("offline", message, { unsent: true, needsFix: true, cause });
}
