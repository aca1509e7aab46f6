// Checks every npm package in data/gallery/gallery.json and sets `verified`: the package exists in that
// version and has a program that npx can start. --update takes the newest version first. --check writes
// nothing and exits with 1 if a value is wrong. Servers that are not from npm are marked as not verified.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { applyEdits, modify } from "jsonc-parser";

const path = join(dirname(fileURLToPath(import.meta.url)), "..", "data", "gallery", "gallery.json");
const [check, update] = ["--check", "--update"].map((flag) => process.argv.includes(flag));

/**
 * The manifest of a package, or undefined if the package does not exist. Other errors end the script, because
 * they log nothing about the package.
 */
function manifest(spec) {
  try {
    const out = execFileSync("npm", ["view", spec, "name", "version", "bin", "deprecated", "--json"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    return out.trim() === "" ? undefined : JSON.parse(out);
  } catch (error) {
    if (`${error.stdout}${error.stderr}`.includes("E404")) return undefined;
    throw error;
  }
}

/** Whether npx can start the package: it has one program, or one with the name of the package. */
function isRunnable({ name, bin }) {
  const programs = typeof bin === "object" && bin !== null ? bin : { [name]: bin };
  const packageName = name.replace(/^@[^/]*\//, "");
  return new Set(Object.values(programs).filter(Boolean)).size === 1 || Boolean(programs[packageName]);
}

let text = readFileSync(path, "utf8");
const { servers } = JSON.parse(text);
let wrong = 0;

function setValue(index, at, value) {
  text = applyEdits(text, modify(text, ["servers", index, ...at], value, {}));
}

function log(message) {
  process.stderr.write(`${message}\n`);
}

for (const [index, { name, package: source, verified }] of servers.entries()) {
  let seen;
  if (source?.registry === "npm") {
    const found = manifest(`${source.identifier}${update ? "" : `@${source.version}`}`);
    if (!found) log(`${name}: there is no ${source.identifier} ${update ? "" : source.version}`);
    else if (!isRunnable(found)) log(`${name}: npx would not know what to start of ${source.identifier}`);
    else seen = found;
    if (seen?.deprecated) log(`${name}: ${source.identifier} is deprecated: ${seen.deprecated}`);
    if (update && seen && seen.version !== source.version) {
      log(`${name}: ${source.version} → ${seen.version}`);
      if (!check) setValue(index, ["package", "version"], seen.version);
    }
  }
  if (verified !== Boolean(seen)) {
    wrong += 1;
    if (!check) setValue(index, ["verified"], Boolean(seen));
    else log(`${name}: verified is ${verified}, but should be ${Boolean(seen)}`);
  }
}

if (check) process.exitCode = wrong > 0 ? 1 : 0;
else writeFileSync(path, text);
log(`${servers.length} servers, ${wrong} stamps ${check ? "wrong" : "changed"}`);
