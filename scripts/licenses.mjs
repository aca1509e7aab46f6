// Writes dist/THIRD_PARTY_LICENSES: name, version and license text of every package whose code the build put
// into dist/. Fails if a package has no license text, because its license asks to pass that on.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const ENGINE = join(root, "scripts/licenses/quickjs-ng.txt");
const FILES = /^(?:licen[cs]e|copying|notice)(?:[-.].*)?$/i;

/** `moduleIds` are the paths of all bundled modules. */
export function writeLicenses(moduleIds) {
  const folders = [...new Set(moduleIds.flatMap(packageFolder))];
  const parts = folders.map(describe).toSorted((a, b) => a.localeCompare(b, "en"));
  const head = "MetaMCP contains code of these packages, under their own licenses.\n";
  writeFileSync(
    join(root, "dist/THIRD_PARTY_LICENSES"),
    [head, ...new Set(parts)].join(`\n${"=".repeat(80)}\n\n`),
  );
}

/** The innermost package folder of a module, or nothing for a module of our own. */
function packageFolder(id) {
  const found = /^\0?(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id);
  return found ? [found[1]] : [];
}

function describe(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder)
    .filter((file) => FILES.test(file))
    .map((file) => readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim());
  // Its notice is not in the package that contains the compiled engine.
  if (name === "quickjs-wasi") texts.push(`quickjs-ng\n\n${readFileSync(ENGINE, "utf8").trim()}`);
  if (texts.length === 0) texts.push(fromReadme(folder, name));
  return `${name} ${version} (${license})\n\n${texts.join("\n\n")}\n`;
}

/** Some packages have their license text only at the end of the README. */
function fromReadme(folder, name) {
  const path = readdirSync(folder).find((file) => /^readme/i.test(file));
  const text = path
    ? /^#+ *licen[cs]e[\s\S]*/im.exec(readFileSync(join(folder, path), "utf8"))?.[0]
    : undefined;
  if (!text) throw new Error(`${name} has no license text`);
  return text.trim();
}
