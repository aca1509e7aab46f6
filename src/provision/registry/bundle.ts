/** Fetches a bundle, compares it with its checksum and only then unpacks it. A bundle is there whole or not at all; runs nothing. */
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
import { Misfit } from "./misfit.ts";
import { type Fetch, get } from "./request.ts";
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
  /** Those that only the bundle itself asks for. */
  readonly variables: readonly Variable[];
}

export const BUNDLE_BOUNDS = { packed: 128 << 20, bytes: 512 << 20, files: 50_000, timeoutMs: 100_000 };

/** Rejects with MetaMcpError; then nothing of it is left. What was unpacked before is not fetched again. */
export async function fetchBundle(candidate: Candidate, parts: BundleParts): Promise<FetchedBundle> {
  const { id, version, bundle, name } = candidate;
  if (!bundle) throw new MetaMcpError("internal", `${id} is not a bundle.`);
  const above = join(parts.home, "bundles", safeName(id));
  // The checksum makes it another folder when it is another content.
  const folder = join(above, safeName(`${version ?? "0"}-${bundle.sha256.slice(0, 16)}`));
  const known = await runnable(folder, name);
  const unpacked = known ?? (await place(bundle, { ...parts, above, folder, name }));
  const { entry, variables } = unpacked;
  const env = { ...entry.env, ...given(candidate, parts.env) };
  return { entry: { ...entry, ...(Object.keys(env).length > 0 && { env }) }, variables };
}

interface Place extends BundleParts {
  readonly above: string;
  readonly folder: string;
  readonly name: string;
}

async function place(bundle: NonNullable<Candidate["bundle"]>, where: Place): Promise<Unpacked> {
  const { above, folder, name, bounds = BUNDLE_BOUNDS } = where;
  const archive = await download(bundle, where);
  await sweep(above);
  const temporary = temporaryBeside(folder);
  await makeFolder(temporary);
  try {
    await unzip(archive, temporary, bounds);
    const unpacked = await runnable(temporary, name);
    if (!unpacked) throw cannot("it has no manifest.json");
    if (unpacked.program) await makeExecutable(unpacked.program);
    await rename(temporary, folder).catch((error: unknown) => {
      // Another MetaMCP was quicker, with the same content.
      if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
    });
  } catch (error) {
    throw MetaMcpError.is(error) ? error : cannot((error as Error).message);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  const placed = await runnable(folder, name);
  if (!placed) throw cannot("it has no manifest.json");
  return placed;
}

async function download({ url, sha256 }: NonNullable<Candidate["bundle"]>, parts: Place): Promise<Buffer> {
  const { clock, signal, fetch = globalThis.fetch, bounds = BUNDLE_BOUNDS } = parts;
  const request = {
    url: new URL(url),
    accept: "*/*",
    maxBytes: bounds.packed,
    timeoutMs: bounds.timeoutMs,
    signal,
  };
  const { status, body } = await get(request, { fetch, clock });
  if (status !== 200) throw cannot(`${request.url.host} answers with status ${status}`);
  const sum = createHash("sha256").update(body).digest("hex");
  if (sum !== sha256) throw cannot(`its checksum is ${sum} instead of ${sha256}`);
  return body;
}

/** Undefined if there is no manifest. */
async function runnable(folder: string, server: string): Promise<Unpacked | undefined> {
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
    if (error instanceof SyntaxError) throw cannot("its manifest.json is not JSON");
    throw error instanceof Misfit ? cannot(error.message) : error;
  }
}

/** Archives made on some systems do not say which files can be run. */
async function makeExecutable(path: string): Promise<void> {
  try {
    await chmod(path, 0o700);
  } catch {
    throw cannot("its program is missing");
  }
}

/** The registry's own variables for it, without those that are optional and not set. */
function given({ entry, variables }: Candidate, env: Env): Readonly<Record<string, string>> {
  if (!("command" in entry)) return {};
  const unset = variables
    .filter(({ name, required }) => !required && !env[name])
    .map(({ name }) => `\${${name}}`);
  return Object.fromEntries(
    Object.entries(entry.env ?? {}).filter(([, value]) => !unset.some((place) => value.includes(place))),
  );
}

function cannot(why: string): MetaMcpError {
  return new MetaMcpError("server_unavailable", `The bundle cannot be used: ${why}.`);
}
