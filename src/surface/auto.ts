/**
 * The auto surface: lists all tools if they are few, else acts as the meta surface. Decides once per session
 * and view.
 */
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { Origin } from "../kernel/call.ts";
import type { Asker } from "../kernel/list-key.ts";
import { type Raw, scalarOf, toRaw } from "../kernel/raw.ts";
import { METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";
import { members } from "../rpc/slice.ts";
import { AggregateSurface } from "./aggregate/aggregate.ts";
import type { SurfaceKind } from "./kind.ts";
import { createMetaSurface } from "./meta/meta.ts";
import { isMetaTool } from "./meta/tools.ts";
import type { Scope } from "./scope.ts";
import type { ClientRequest, ListStates, Surface } from "./surface.ts";

/** If the definitions of all tools are larger than this, searching them is cheaper than listing them. */
const DEFAULT_MAX_BYTES = 8_000;

/** The capabilities announce prompts and resources, so a client gets empty lists instead of errors. */
const EMPTY_LISTS: ReadonlyMap<string, Raw> = new Map([
  ["prompts/list", toRaw({ prompts: [] })],
  ["resources/list", toRaw({ resources: [] })],
  ["resources/templates/list", toRaw({ resourceTemplates: [] })],
]);

/** Clients that know skills read them by these, whatever they see of the tools. */
const OF_SKILLS: ReadonlySet<string> = new Set(["skills/list", "skills/get", "resources/directory/read"]);

const LISTS: ReadonlySet<string> = new Set(["tools/list", ...EMPTY_LISTS.keys()]);

export const auto: SurfaceKind = {
  name: "auto",
  open(scope, { notify, wrap }) {
    const meta = createMetaSurface(scope, { notify });
    const aggregate = new AggregateSurface(scope, { notify });
    return () => wrap(new AutoSurface(meta, aggregate, scope));
  },
};

class AutoSurface implements Surface {
  readonly capabilities: Surface["capabilities"];
  readonly #meta: Surface;
  readonly #aggregate: AggregateSurface;
  readonly #scope: Pick<Scope, "view" | "autoMaxBytes">;
  readonly #decisions = new WeakMap<CatalogView, Promise<Surface>>();
  readonly #decided = new WeakMap<CatalogView, Surface>();

  constructor(meta: Surface, aggregate: AggregateSurface, scope: Pick<Scope, "view" | "autoMaxBytes">) {
    this.#meta = meta;
    this.#aggregate = aggregate;
    this.#scope = scope;
    this.capabilities = aggregate.capabilities;
  }

  /** Decides before the handshake is answered, because the instructions must match the surface. */
  async prepare(origin: Origin): Promise<void> {
    await (await this.#decide(origin)).prepare?.(origin);
  }

  extensions(origin: Origin): Readonly<Record<string, unknown>> {
    return (this.#decisionFor(origin) ?? this.#meta).extensions?.(origin) ?? {};
  }

  instructions(asker: Asker): string {
    return (this.#decisionFor(asker) ?? this.#meta).instructions(asker);
  }

  lists(asker: Asker): ListStates {
    return this.#decisionFor(asker)?.lists?.(asker) ?? {};
  }

  tool(name: string, asker: Asker): Raw | undefined {
    return (this.#decisionFor(asker) ?? this.#aggregate).tool?.(name, asker);
  }

  loadMissing(origin: Origin): void {
    this.#decisionFor(origin)?.loadMissing?.(origin);
  }

  notified(...about: Parameters<NonNullable<Surface["notified"]>>): void {
    const [, , origin] = about;
    (this.#decisionFor(origin) ?? this.#meta).notified?.(...about);
  }

  handle(request: ClientRequest): Promise<Raw> {
    if (LISTS.has(request.method)) return this.#list(request);
    if (OF_SKILLS.has(request.method)) return this.#aggregate.handle(request);
    return (this.#decisionFor(request.origin) ?? this.#surfaceFor(request)).handle(request);
  }

  async #list(request: ClientRequest): Promise<Raw> {
    const surface = await this.#decide(request.origin);
    try {
      return await surface.handle(request);
    } catch (error) {
      const empty = surface === this.#meta ? EMPTY_LISTS.get(request.method) : undefined;
      if (empty && error instanceof RpcError && error.code === METHOD_NOT_FOUND) return empty;
      throw error;
    }
  }

  #decisionFor(asker: Asker): Surface | undefined {
    return this.#decided.get(this.#scope.view(asker));
  }

  #decide(origin: Origin): Promise<Surface> {
    const view = this.#scope.view(origin);
    let decision = this.#decisions.get(view);
    if (!decision) {
      const most = this.#scope.autoMaxBytes() ?? DEFAULT_MAX_BYTES;
      decision = this.#aggregate.isSmall(origin, most).then((small) => {
        const surface = small ? this.#aggregate : this.#meta;
        this.#decided.set(view, surface);
        return surface;
      });
      this.#decisions.set(view, decision);
    }
    return decision;
  }

  /**
   * Used before a decision, when a client can know tool names only from elsewhere, e.g. from an earlier
   * session.
   */
  #surfaceFor({ method, params }: ClientRequest): Surface {
    const [name] = method === "tools/call" && params ? members(params, ["name"]) : [];
    return isMetaTool(scalarOf(name)) ? this.#meta : this.#aggregate;
  }
}
