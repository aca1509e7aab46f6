// Looks at every npm package of data/gallery/gallery.json, one after the other, and stamps `verified`: it is there in that version and has
// a program that npx can start. With --update the newest version is taken first; with --check nothing is written, and it ends with 1 if a
// stamp does not hold. All that does not come from npm is marked as not verified.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { applyEdits, modify } from "jsonc-parser";

const path = join(dirname(fileURLToPath(import.meta.url)), "..", "data", "gallery", "gallery.json");
const [check, update] = ["--check", "--update"].map((flag) => process.argv.includes(flag));

/** The manifest of a package, or undefined if there is none. Other faults end the script: they say nothing about the package. */
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

/** As npx decides: the only one, or the one that is called like the package. */
function runnable({ name, bin }) {
  const programs = typeof bin === "object" && bin !== null ? bin : { [name]: bin };
  const own = name.replace(/^@[^/]*\//, "");
  return new Set(Object.values(programs).filter(Boolean)).size === 1 || Boolean(programs[own]);
}

let text = readFileSync(path, "utf8");
const { servers } = JSON.parse(text);
let wrong = 0;

function stamp(index, at, value) {
  text = applyEdits(text, modify(text, ["servers", index, ...at], value, {}));
}

function say(message) {
  process.stderr.write(`${message}\n`);
}

for (const [index, { name, package: source, verified }] of servers.entries()) {
  let seen;
  if (source?.registry === "npm") {
    const found = manifest(`${source.identifier}${update ? "" : `@${source.version}`}`);
    if (!found) say(`${name}: there is no ${source.identifier} ${update ? "" : source.version}`);
    else if (!runnable(found)) say(`${name}: npx would not know what to start of ${source.identifier}`);
    else seen = found;
    if (seen?.deprecated) say(`${name}: ${source.identifier} is deprecated: ${seen.deprecated}`);
    if (update && seen && seen.version !== source.version) {
      say(`${name}: ${source.version} → ${seen.version}`);
      if (!check) stamp(index, ["package", "version"], seen.version);
    }
  }
  if (verified !== Boolean(seen)) {
    wrong += 1;
    if (!check) stamp(index, ["verified"], Boolean(seen));
    else say(`${name}: verified is ${verified}, but should be ${Boolean(seen)}`);
  }
}

if (check) process.exitCode = wrong > 0 ? 1 : 0;
else writeFileSync(path, text);
say(`${servers.length} servers, ${wrong} stamps ${check ? "wrong" : "changed"}`);
