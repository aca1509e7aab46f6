/** Layers of one's own: modules in one folder that the operator names. What leads out of it is not loaded. */
import { statSync } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { isRecord } from "../kernel/is-record.ts";
import type { LayerKind } from "./layer.ts";
import { guardedKind, type OwnLayerKind } from "./own-layer.ts";

/** A kind, or in words why it cannot be used. */
export type FoundLayer = { readonly kind: LayerKind } | { readonly fault: string };

const NAME = /^\.\/[A-Za-z0-9][\w.-]{0,99}\.mjs$/;
const LONGEST_FAULT = 300;

export class OwnLayers {
  readonly #folder: string | undefined;
  readonly #found = new Map<string, FoundLayer & { readonly mark: string }>();
  readonly #loading = new Map<string, Promise<void>>();

  /** Undefined: there are none. */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** Whether an entry means one of these. */
  static means(use: string): boolean {
    return use.startsWith(".") || use.startsWith("/");
  }

  /** A promise: ask again once it has resolved. One that could be used stays as it is until a restart; one that could not is looked at again once its file changed. */
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

  /** What entries can name. */
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

/** Another text once the file is another. */
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
    // What failed once would fail again under the same address, whatever the file is by then.
    const module: unknown = await import(`${pathToFileURL(path).href}?${mark}`);
    return kindIn(module, use);
  } catch (error) {
    return { fault: `cannot be loaded: ${String((error as Error).message).slice(0, LONGEST_FAULT)}` };
  }
}

function kindIn(module: unknown, use: string): FoundLayer {
  const kind = isRecord(module) ? (module as { default?: unknown }).default : undefined;
  if (!isRecord(kind)) return { fault: "has no default export: export default { schema, compile }" };
  const { schema, compile } = kind as Partial<OwnLayerKind>;
  if (typeof compile !== "function") return { fault: "its default export has no compile(options, context)" };
  if (!isRecord(schema) || !isRecord(schema.properties))
    return { fault: "its default export has no schema: { properties: { … } }" };
  return { kind: guardedKind(kind as unknown as OwnLayerKind, use) };
}
