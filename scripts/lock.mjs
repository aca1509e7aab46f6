// Completes package-lock.json after `npm install`. npm omits packages for other platforms, and without them
// `npm ci` fails in a fresh clone. Takes their integrity from the registry that npm uses, and says which ones it
// does not have: those are installed unchecked. --check writes nothing, asks nobody, and exits with 1 if a
// package is missing or the file contains a registry URL.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const path = join(dirname(fileURLToPath(import.meta.url)), "..", "package-lock.json");
const lock = JSON.parse(readFileSync(path, "utf8"));
const packages = lock.packages;

/** Searches like Node: first in the node_modules of `from`, then further up. */
function isPresent(from, name, version) {
  for (let base = from; ; base = parentOf(base)) {
    const found = packages[`${base}${base && "/"}node_modules/${name}`];
    if (found && (!/^\d/.test(version) || found.version === version)) return true;
    if (base === "") return false;
  }
}

function parentOf(folder) {
  const at = folder.lastIndexOf("/node_modules/");
  return at < 0 ? "" : folder.slice(0, at);
}

/** Derives the platform from the name, e.g. `@scope/binding-linux-arm64-musl`. */
function entryFor(name, version, dev) {
  const os = /(?:^|[-/])(android|darwin|freebsd|openharmony|linux|win32)/.exec(name)?.[1];
  const cpu = /wasm32|arm64|arm|x64|ia32|ppc64|riscv64|s390x/.exec(name)?.[0];
  if (!cpu) throw new Error(`${name}: for which platform is it?`);
  const libc = name.includes("musl") ? "musl" : "glibc";
  return {
    version,
    cpu: [cpu],
    ...(dev && { dev }),
    ...(os === "linux" && { libc: [libc] }),
    optional: true,
    ...(os && { os: [os] }),
  };
}

/** Only where it is missing: a known integrity never changes. */
async function addIntegrity(entries) {
  const open = entries.filter(([place, entry]) => place !== "" && !entry.integrity && !entry.link);
  if (open.length === 0) return;
  const registry = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  const unknown = [];
  for (const found of open) {
    const [place, { version, ...others }] = found;
    const name = place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
    const integrity = await integrityOf(name, version, registry);
    // In the order in which npm writes them.
    if (integrity) found[1] = { version, integrity, ...others };
    else unknown.push(`${name}@${version}`);
  }
  if (unknown.length === 0) return;
  process.stderr.write(
    `No integrity for ${unknown.length} packages of other platforms; run this again with a registry that has them:\n`,
  );
  for (const one of unknown) process.stderr.write(`  ${one}\n`);
}

/** Undefined if the registry does not have this version or does not answer. */
async function integrityOf(name, version, registry) {
  try {
    const address = new URL(name.replace("/", "%2f"), registry.endsWith("/") ? registry : `${registry}/`);
    const headers = { accept: "application/vnd.npm.install-v1+json" };
    const answer = await fetch(address, { headers, signal: AbortSignal.timeout(30_000) });
    return (await answer.json()).versions?.[version]?.dist?.integrity;
  } catch {
    return undefined;
  }
}

const added = Object.entries(packages).flatMap(([from, { optionalDependencies = {}, dev }]) =>
  Object.entries(optionalDependencies)
    .filter(([name, version]) => !isPresent(from, name, version))
    .map(([name, version]) => {
      const parent = parentOf(from);
      return [`${parent}${parent && "/"}node_modules/${name}`, entryFor(name, version, dev)];
    }),
);
const addresses = Object.values(packages).filter((entry) => entry.resolved !== undefined).length;

if (process.argv.includes("--check")) {
  for (const [place] of added)
    process.stderr.write(`package-lock.json has no ${place}: run node scripts/lock.mjs\n`);
  if (addresses > 0) process.stderr.write(`package-lock.json has ${addresses} addresses of a registry\n`);
  process.exitCode = added.length > 0 || addresses > 0 ? 1 : 0;
} else {
  const all = Object.entries({ ...packages, ...Object.fromEntries(added) });
  await addIntegrity(all);
  lock.packages = Object.fromEntries(all.toSorted(([a], [b]) => a.localeCompare(b, "en")));
  writeFileSync(path, `${JSON.stringify(lock, undefined, 2)}\n`);
}
