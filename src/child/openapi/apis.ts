/**
 * The APIs in use, made from their documents once for all connections to the same one: many accounts have
 * connections of their own, and the tools of a large API take tens of megabytes.
 */
import { createHash } from "node:crypto";
import type { OpenApiSpec } from "../../config/spec.ts";
import { asRaw, type Raw } from "../../kernel/raw.ts";
import { ChildFailure } from "../link.ts";
import type { BaseAddress } from "./base-address.ts";
import type { KeyPlace } from "./compile.ts";
import { compileInThread } from "./compile-in-thread.ts";
import type { CompileJob } from "./compile-thread.ts";
import { broken, type DocumentSource } from "./document-source.ts";
import type { Plan } from "./plan.ts";

export interface Api {
  readonly title: string;
  readonly version: string;
  readonly instructions: string | undefined;
  readonly keys: readonly KeyPlace[];
  readonly base: BaseAddress;
  /** JSON arrays of tools. */
  readonly pages: readonly Raw[];
  readonly leftOut: readonly string[];
  plan(tool: string): Plan | undefined;
}

/** An API that is not in use is kept for the next connection, if it is one of the last few. */
const MOST_KEPT = 4;

export class Apis {
  /** By a hash of the documents and of what the config says about them; the least recently used first. */
  readonly #made = new Map<
    string,
    { readonly parts: ReadonlyMap<string, string>; readonly api: WeakRef<Api> }
  >();
  readonly #kept: Api[] = [];

  /** Rejects with ChildFailure. */
  async open(spec: OpenApiSpec, source: DocumentSource, signal: AbortSignal): Promise<Api> {
    const root = await source.load(source.uri, signal);
    const job = jobOf(spec, source.uri);
    const key = hash([job, hash(root)]);
    const known = await this.#known(key, source, signal);
    if (known) return this.#keep(known);
    const parts = new Map<string, string>();
    const load = async (uri: string): Promise<Uint8Array> => {
      if (uri === source.uri) return root;
      const bytes = await source.load(uri, signal);
      parts.set(uri, hash(bytes));
      return bytes;
    };
    let api: Api;
    try {
      const { plans, pages, ...rest } = await compileInThread(job, load, signal);
      const byName = new Map(plans);
      api = {
        ...rest,
        pages: pages.map((page) => asRaw(Buffer.from(page.buffer, page.byteOffset, page.byteLength))),
        plan: (tool) => {
          const plan = byName.get(tool);
          return plan === undefined ? undefined : (JSON.parse(plan) as Plan);
        },
      };
    } catch (error) {
      if (signal.aborted) throw signal.reason instanceof ChildFailure ? signal.reason : cancelled();
      throw broken(`its document cannot be used: ${(error as Error).message}`);
    }
    this.#made.set(key, { parts, api: new WeakRef(api) });
    return this.#keep(api);
  }

  /** The API that was made from the same documents, if all its parts are unchanged too. */
  async #known(key: string, source: DocumentSource, signal: AbortSignal): Promise<Api | undefined> {
    const made = this.#made.get(key);
    const api = made?.api.deref();
    if (!api) this.#made.delete(key);
    for (const [uri, before] of made?.parts ?? []) {
      const bytes = await source.load(uri, signal).catch(() => undefined);
      if (!bytes || hash(bytes) !== before) return undefined;
    }
    return api;
  }

  #keep(api: Api): Api {
    const at = this.#kept.indexOf(api);
    if (at >= 0) this.#kept.splice(at, 1);
    this.#kept.push(api);
    if (this.#kept.length > MOST_KEPT) this.#kept.shift();
    return api;
  }
}

function jobOf({ baseUrl, operations, headers }: OpenApiSpec, uri: string): CompileJob {
  const fixed = Object.keys(headers).map((name) => name.toLowerCase());
  const { allow, deny } = operations;
  return { uri, options: { baseUrl, allow, deny, fixed } };
}

function cancelled(): ChildFailure {
  return new ChildFailure("other", "connecting was cancelled", { unsent: true });
}

function hash(value: unknown): string {
  const text = Buffer.isBuffer(value) ? value : JSON.stringify(value);
  return createHash("sha256").update(text).digest("hex");
}
