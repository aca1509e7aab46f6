// Completes package-lock.json after `npm install`. npm omits packages for other platforms, and without them
// `npm ci` fails in a fresh clone. --check writes nothing and exits with 1 if a package is missing or the
// file contains a registry URL.
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
  lock.packages = Object.fromEntries(all.toSorted(([a], [b]) => a.localeCompare(b, "en")));
  writeFileSync(path, `${JSON.stringify(lock, undefined, 2)}\n`);
}
