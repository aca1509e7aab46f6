/**
 * Loads the operator's own layers: modules in the folder of `--middleware-dir`. Links that lead out of the
 * folder are refused.
 */
import { statSync } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { isRecord } from "../kernel/is-record.ts";
import { type CustomLayerKind, guardedKind } from "./custom-layer.ts";
import type { LayerKind } from "./layer.ts";

/** The layer, or the reason why it cannot be used. */
export type FoundLayer = { readonly kind: LayerKind } | { readonly fault: string };

const NAME = /^\.\/[A-Za-z0-9][\w.-]{0,99}\.mjs$/;
const LONGEST_FAULT = 300;

export class CustomLayers {
  readonly #folder: string | undefined;
  readonly #found = new Map<string, FoundLayer & { readonly mark: string }>();
  readonly #loading = new Map<string, Promise<void>>();

  /** Without a folder there are no own layers. */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** Whether the name of an entry is a path, and so an own layer. */
  static isPath(use: string): boolean {
    return use.startsWith(".") || use.startsWith("/");
  }

  /**
   * If it returns a promise, call it again once that has resolved. A loaded layer stays until a restart. A
   * layer that could not be used is loaded again when its file changes.
   */
  find(use: string): FoundLayer | Promise<void> {
    if (!NAME.test(use)) return { fault: 'must be "./NAME.mjs", a file in the folder of --middleware-dir' };
    if (this.#folder === undefined) return { fault: "needs --middleware-dir, the folder with this file" };
    const known = this.#found.get(use);
    const path = join(this.#folder, use);
    if (known && ("kind" in known || known.mark === markOf(path))) return known;
    const loading = this.#loading.get(use) ?? this.#load(this.#folder, use, path);
    this.#loading.set(use, loading);
    return loading;
  }

  /** The names that entries can use. */
  async names(): Promise<readonly string[]> {
    if (this.#folder === undefined) return [];
    const files = await readdir(this.#folder).catch(() => []);
    return files
      .map((file) => `./${file}`)
      .filter((use) => NAME.test(use))
      .toSorted();
  }

  async #load(folder: string, use: string, path: string): Promise<void> {
    const mark = markOf(path);
    this.#found.set(use, { ...(await load(folder, use, mark)), mark });
    this.#loading.delete(use);
  }
}

/** Changes when the file changes. */
function markOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.ino}-${stats.mtimeMs}` : "";
}

async function load(folder: string, use: string, mark: string): Promise<FoundLayer> {
  let path: string;
  try {
    const inside = await realpath(folder);
    path = await realpath(join(inside, use));
    if (dirname(path) !== inside) return { fault: "leads out of the folder of --middleware-dir" };
    if (!(await stat(path)).isFile()) return { fault: "is not a file" };
  } catch (error) {
    return { fault: `cannot be read (${String((error as { code?: unknown }).code)})` };
  }
  try {
    // Node caches a failed import by its URL, so a changed file needs another URL.
    const module: unknown = await import(`${pathToFileURL(path).href}?${mark}`);
    return kindIn(module, use);
  } catch (error) {
    return { fault: `cannot be loaded: ${String((error as Error).message).slice(0, LONGEST_FAULT)}` };
  }
}

function kindIn(module: unknown, use: string): FoundLayer {
  const kind = isRecord(module) ? (module as { default?: unknown }).default : undefined;
  if (!isRecord(kind)) return { fault: "has no default export: export default { schema, compile }" };
  const { schema, compile } = kind as Partial<CustomLayerKind>;
  if (typeof compile !== "function") return { fault: "its default export has no compile(options, context)" };
  if (!isRecord(schema) || !isRecord(schema.properties))
    return { fault: "its default export has no schema: { properties: { … } }" };
  return { kind: guardedKind(kind as unknown as CustomLayerKind, use) };
}
