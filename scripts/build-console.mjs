// Builds console/ into dist/console/: hashed names, code split per page, one stylesheet, and each file compressed beside it.
// Run by itself it builds nothing but that. `sizes.json` says what the first view needs, for the check of its budget.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const source = join(root, "console");
const folder = join(root, "dist/console");

/** What opens at `/`: loaded with the rest of the first view. */
const FIRST_PAGE = join(source, "pages/overview/overview.tsx");

export async function bundleConsole() {
  const bundle = await rolldown({
    input: { console: join(source, "main.tsx") },
    platform: "browser",
    plugins: [stylesheet()],
  });
  const { output } = await bundle.generate({
    format: "esm",
    minify: true,
    sourcemap: false,
    entryFileNames: "assets/[name]-[hash].js",
    chunkFileNames: "assets/[name]-[hash].js",
    assetFileNames: "assets/[name]-[hash][extname]",
  });
  await bundle.close();
  const first = firstView(output);
  const files = new Map(output.map((file) => [file.fileName, Buffer.from(file.code ?? file.source)]));
  files.set("index.html", Buffer.from(page(first)));

  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "assets"), { recursive: true });
  for (const [name, content] of files) write(name, content);
  const compressed = (name) => brotli(files.get(name)).length;
  const sizes = Object.fromEntries(["index.html", ...first].map((name) => [name, compressed(name)]));
  writeFileSync(join(folder, "sizes.json"), JSON.stringify(sizes));
}

function write(name, content) {
  const path = join(folder, name);
  writeFileSync(path, content);
  writeFileSync(`${path}.br`, brotli(content));
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
}

function brotli(content) {
  return brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } });
}

/** The stylesheet, the entry, the first page, and all that they import: the entry first. */
function firstView(output) {
  const byName = new Map(output.map((file) => [file.fileName, file]));
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const next of byName.get(name)?.imports ?? []) visit(next);
  };
  visit(output.find(({ isEntry }) => isEntry).fileName);
  visit(output.find(({ facadeModuleId }) => facadeModuleId === FIRST_PAGE)?.fileName);
  seen.delete(undefined);
  const css = output.filter(({ fileName }) => fileName.endsWith(".css")).map(({ fileName }) => fileName);
  return [...seen, ...css];
}

/** The one page: console/index.html with the names that this build gave its files. */
function page(first) {
  const [entry, ...rest] = first.filter((name) => name.endsWith(".js"));
  const css = first.filter((name) => name.endsWith(".css"));
  const lines = [
    ...css.map((name) => `<link rel="stylesheet" href="/${name}">`),
    // Until the script has run there is nothing to see: a chosen theme does not flash in the other one.
    `<script type="module" blocking="render" src="/${entry}"></script>`,
    ...rest.map((name) => `<link rel="modulepreload" href="/${name}">`),
  ];
  return readFileSync(join(source, "index.html"), "utf8").replace("<!-- files -->", lines.join("\n    "));
}

/** All .css that modules import, in the order in which they are imported, as one file. */
function stylesheet() {
  const texts = new Map();
  return {
    name: "stylesheet",
    load(id) {
      if (!id.endsWith(".css")) return undefined;
      texts.set(id, readFileSync(id, "utf8"));
      return { code: "export {}", moduleType: "js", moduleSideEffects: true };
    },
    generateBundle() {
      const seen = new Set();
      const found = [];
      const visit = (id) => {
        if (seen.has(id)) return;
        seen.add(id);
        if (texts.has(id)) found.push(texts.get(id));
        const about = this.getModuleInfo(id);
        for (const next of [...(about?.importedIds ?? []), ...(about?.dynamicallyImportedIds ?? [])])
          visit(next);
      };
      visit(join(source, "main.tsx"));
      this.emitFile({ type: "asset", name: "console.css", source: smaller(found.join("\n")) });
    },
  };
}

function smaller(css) {
  return css.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\s+/g, " ");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleConsole();
