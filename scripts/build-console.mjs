// Builds console/ into dist/console/: hashed names, code split per page, one stylesheet, and a compressed
// copy of each file. Run directly, it builds only this. `sizes.json` has the sizes of the files of the first
// view, for the check of its budget.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const source = join(root, "console");
const folder = join(root, "dist/console");

/** Returns the paths of the bundled modules. `samples`: with the page that shows all components. */
export async function bundleConsole({ samples = true } = {}) {
  const bundle = await rolldown({
    input: { console: join(source, "main.tsx") },
    platform: "browser",
    transform: { define: { __SAMPLES__: String(samples) } },
    plugins: [stylesheet()],
  });
  const { output } = await bundle.generate({
    format: "esm",
    minify: true,
    sourcemap: false,
    // One file for the first view: browsers load no more than six at once.
    codeSplitting: { groups: [{ name: "first", tags: ["$initial"] }] },
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
  return output.flatMap(({ moduleIds = [] }) => moduleIds);
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

/** The names of all files of the first view: the entry, which has the first page, its imports, the stylesheet. */
function firstView(output) {
  const byName = new Map(output.map((file) => [file.fileName, file]));
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const next of byName.get(name)?.imports ?? []) visit(next);
  };
  visit(output.find(({ isEntry }) => isEntry).fileName);
  const css = output.filter(({ fileName }) => fileName.endsWith(".css")).map(({ fileName }) => fileName);
  return [...seen, ...css];
}

/** console/index.html with the names of the built files. */
function page(first) {
  const [entry, ...rest] = first.filter((name) => name.endsWith(".js"));
  const css = first.filter((name) => name.endsWith(".css"));
  const lines = [
    ...css.map((name) => `<link rel="stylesheet" href="/${name}">`),
    // Nothing is rendered before the script has run, so that the page does not appear in the wrong theme for
    // a moment.
    `<script type="module" blocking="render" src="/${entry}"></script>`,
    ...rest.map((name) => `<link rel="modulepreload" href="/${name}">`),
  ];
  return readFileSync(join(source, "index.html"), "utf8").replace("<!-- files -->", lines.join("\n    "));
}

/** Joins all imported .css files into one, in the order of their imports. */
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
        const info = this.getModuleInfo(id);
        for (const next of [...(info?.importedIds ?? []), ...(info?.dynamicallyImportedIds ?? [])])
          visit(next);
      };
      visit(join(source, "main.tsx"));
      this.emitFile({ type: "asset", name: "console.css", source: minified(found.join("\n")) });
    },
  };
}

function minified(css) {
  return css.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\s+/g, " ");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleConsole();
