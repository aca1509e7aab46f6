/**
 * Downloads a bundle, checks its checksum and unpacks it. The folder of a bundle exists only when it is
 * complete. Runs nothing.
 */
import { createHash } from "node:crypto";
import { chmod, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, makeFolder } from "../../home/file.ts";
import type { Env } from "../../home/home.ts";
import { safeName } from "../../home/safe-name.ts";
import { sweep, temporaryBeside } from "../../home/temporary.ts";
import type { Clock } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Signal } from "../../kernel/signal.ts";
import type { Candidate, Entry, Variable } from "../candidate.ts";
import { entryFrom, type Unpacked } from "./manifest.ts";
import { type Fetch, get } from "./request.ts";
import { UnsupportedEntry } from "./unsupported-entry.ts";
import { unzip } from "./zip.ts";

export interface BundleParts {
  /** METAMCP_HOME. */
  readonly home: string;
  readonly env: Env;
  readonly clock: Clock;
  readonly fetch?: Fetch;
  readonly signal?: Signal | undefined;
  readonly bounds?: typeof BUNDLE_BOUNDS;
}

export interface FetchedBundle {
  readonly entry: Entry;
  /** Variables that only the bundle itself declares. */
  readonly variables: readonly Variable[];
}

export const BUNDLE_BOUNDS = { packed: 128 << 20, bytes: 512 << 20, files: 50_000, timeoutMs: 100_000 };

/** Rejects with MetaMcpError; then nothing is left behind. An unpacked bundle is not downloaded again. */
export async function fetchBundle(candidate: Candidate, parts: BundleParts): Promise<FetchedBundle> {
  const { id, version, bundle, name } = candidate;
  if (!bundle) throw new MetaMcpError("internal", `${id} is not a bundle.`);
  const parent = join(parts.home, "bundles", safeName(id));
  // The checksum in the name gives other content another folder.
  const folder = join(parent, safeName(`${version ?? "0"}-${bundle.sha256.slice(0, 16)}`));
  const existing = await readUnpacked(folder, name);
  const unpacked = existing ?? (await unpackBundle(bundle, { ...parts, parent, folder, name }));
  const { entry, variables } = unpacked;
  const env = { ...entry.env, ...registryEnv(candidate, parts.env) };
  return { entry: { ...entry, ...(Object.keys(env).length > 0 && { env }) }, variables };
}

interface UnpackTarget extends BundleParts {
  readonly parent: string;
  readonly folder: string;
  readonly name: string;
}

async function unpackBundle(
  bundle: NonNullable<Candidate["bundle"]>,
  target: UnpackTarget,
): Promise<Unpacked> {
  const { parent, folder, name, bounds = BUNDLE_BOUNDS } = target;
  const archive = await download(bundle, target);
  await sweep(parent);
  const temporary = temporaryBeside(folder);
  await makeFolder(temporary);
  // Servers may run as another user. The folder above decides whether that user gets here.
  for (const path of [parent, temporary]) await chmod(path, 0o755);
  try {
    await unzip(archive, temporary, bounds);
    const unpacked = await readUnpacked(temporary, name);
    if (!unpacked) throw unusable("it has no manifest.json");
    if (unpacked.program) await makeExecutable(unpacked.program);
    await rename(temporary, folder).catch((error: unknown) => {
      // Another process has unpacked the same content meanwhile.
      if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
    });
  } catch (error) {
    throw MetaMcpError.is(error) ? error : unusable((error as Error).message);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  const unpacked = await readUnpacked(folder, name);
  if (!unpacked) throw unusable("it has no manifest.json");
  return unpacked;
}

async function download(
  { url, sha256 }: NonNullable<Candidate["bundle"]>,
  parts: UnpackTarget,
): Promise<Buffer> {
  const { clock, signal, fetch = globalThis.fetch, bounds = BUNDLE_BOUNDS } = parts;
  const request = {
    url: new URL(url),
    accept: "*/*",
    maxBytes: bounds.packed,
    timeoutMs: bounds.timeoutMs,
    signal,
  };
  const { status, body } = await get(request, { fetch, clock });
  if (status !== 200) throw unusable(`${request.url.host} answers with status ${status}`);
  const sum = createHash("sha256").update(body).digest("hex");
  if (sum !== sha256) throw unusable(`its checksum is ${sum} instead of ${sha256}`);
  return body;
}

/** Undefined if there is no manifest. */
async function readUnpacked(folder: string, server: string): Promise<Unpacked | undefined> {
  let text: string;
  try {
    text = await readFile(join(folder, "manifest.json"), "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    return entryFrom(JSON.parse(text), server, folder);
  } catch (error) {
    if (error instanceof SyntaxError) throw unusable("its manifest.json is not JSON");
    throw error instanceof UnsupportedEntry ? unusable(error.message) : error;
  }
}

/** Archives from some systems do not mark executable files. */
async function makeExecutable(path: string): Promise<void> {
  try {
    await chmod(path, 0o755);
  } catch {
    throw unusable("its program is missing");
  }
}

/** The environment from the registry entry, without optional variables that are not set. */
function registryEnv({ entry, variables }: Candidate, env: Env): Readonly<Record<string, string>> {
  if (!("command" in entry)) return {};
  const unset = variables
    .filter(({ name, required }) => !required && !env[name])
    .map(({ name }) => `\${${name}}`);
  return Object.fromEntries(
    Object.entries(entry.env ?? {}).filter(([, value]) => !unset.some((place) => value.includes(place))),
  );
}

function unusable(why: string): MetaMcpError {
  return new MetaMcpError("server_unavailable", `The bundle cannot be used: ${why}.`);
}
