/** The auto surface: all tools while they are few, else the meta surface. Decides once for all clients that see the same; each session has its own. */
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { Origin } from "../kernel/call.ts";
import type { Asker } from "../kernel/list-key.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";
import { members } from "../rpc/slice.ts";
import type { AggregateSurface } from "./aggregate/aggregate.ts";
import { isMetaTool } from "./meta/meta.ts";
import type { ClientRequest, ListStates, Surface } from "./surface.ts";

/** Definitions of all tools, in bytes: beyond this, finding them is cheaper than showing them. */
const SMALL = 8_000;

/** A client that was promised prompts and resources gets empty lists of them, not errors. */
const NOTHING: ReadonlyMap<string, Raw> = new Map([
  ["prompts/list", toRaw({ prompts: [] })],
  ["resources/list", toRaw({ resources: [] })],
  ["resources/templates/list", toRaw({ resourceTemplates: [] })],
]);

const LISTS: ReadonlySet<string> = new Set(["tools/list", ...NOTHING.keys()]);

export class AutoSurface implements Surface {
  readonly capabilities: Surface["capabilities"];
  readonly #meta: Surface;
  readonly #aggregate: AggregateSurface;
  readonly #viewOf: (asker: Asker) => CatalogView;
  readonly #decisions = new WeakMap<CatalogView, Promise<Surface>>();
  readonly #decided = new WeakMap<CatalogView, Surface>();

  constructor(meta: Surface, aggregate: AggregateSurface, viewOf: (asker: Asker) => CatalogView) {
    this.#meta = meta;
    this.#aggregate = aggregate;
    this.#viewOf = viewOf;
    this.capabilities = aggregate.capabilities;
  }

  /** Decides: what a client is told at the beginning must fit what it is shown. */
  async prepare(origin: Origin): Promise<void> {
    await this.#decide(origin);
  }

  instructions(asker: Asker): string {
    return (this.#decisionFor(asker) ?? this.#meta).instructions(asker);
  }

  lists(asker: Asker): ListStates {
    return this.#decisionFor(asker) === this.#aggregate ? this.#aggregate.lists(asker) : {};
  }

  tool(name: string, asker: Asker): Raw | undefined {
    return this.#decisionFor(asker) === this.#meta ? undefined : this.#aggregate.tool(name, asker);
  }

  learn(origin: Origin): void {
    if (this.#decisionFor(origin) === this.#aggregate) this.#aggregate.learn(origin);
  }

  notified(...about: Parameters<NonNullable<Surface["notified"]>>): void {
    this.#meta.notified?.(...about);
  }

  handle(request: ClientRequest): Promise<Raw> {
    if (LISTS.has(request.method)) return this.#list(request);
    return (this.#decisionFor(request.origin) ?? this.#surfaceFor(request)).handle(request);
  }

  async #list(request: ClientRequest): Promise<Raw> {
    const surface = await this.#decide(request.origin);
    try {
      return await surface.handle(request);
    } catch (error) {
      const nothing = surface === this.#meta ? NOTHING.get(request.method) : undefined;
      if (nothing && error instanceof RpcError && error.code === METHOD_NOT_FOUND) return nothing;
      throw error;
    }
  }

  #decisionFor(asker: Asker): Surface | undefined {
    return this.#decided.get(this.#viewOf(asker));
  }

  #decide(origin: Origin): Promise<Surface> {
    const view = this.#viewOf(origin);
    let decision = this.#decisions.get(view);
    if (!decision) {
      decision = this.#aggregate.isSmall(origin, SMALL).then((small) => {
        const surface = small ? this.#aggregate : this.#meta;
        this.#decided.set(view, surface);
        return surface;
      });
      this.#decisions.set(view, decision);
    }
    return decision;
  }

  /** Before the first list a client can know names of tools only from elsewhere. */
  #surfaceFor({ method, params }: ClientRequest): Surface {
    const [name] = method === "tools/call" && params ? members(params, ["name"]) : [];
    return name && isMetaTool(fromRaw(name)) ? this.#meta : this.#aggregate;
  }
}
