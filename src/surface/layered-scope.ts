/** A scope as the layers of its lists leave it: what they hide is in no list, search or hint, and no call reaches it. */
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { Tool } from "../catalog/tool.ts";
import type { Call, Uplink } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Asker } from "../kernel/list-key.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Raw } from "../kernel/raw.ts";
import { connect, noSuchTool } from "./call-tool.ts";
import { FilteredView } from "./filtered-view.ts";
import { nameIn } from "./forward.ts";
import type { Scope } from "./scope.ts";

/** What hides tools here, by the names that clients know. */
export interface ListSide {
  /** Another object once other layers decide. */
  readonly rules: object;
  /** The same text for principals who see the same; undefined where nothing is hidden from them. */
  keyOf(principal: Principal): string | undefined;
  /** `view`: the one that is filtered. */
  hides(view: CatalogView, tool: HidableTool, principal: Principal): boolean;
}

export interface HidableTool {
  readonly server: string;
  /** Empty: the server itself, which is judged where it has no tools to be judged by. */
  readonly name: string;
  /** Undefined where the server does not list it. */
  readonly listed: Tool | undefined;
}

export function layeredScope(base: Scope, side: ListSide): Scope {
  const views = new FilteredViews(base, side);
  const scope: Scope = {
    ...base,
    view: (asker) => views.of(asker),
    permits: (server, tool, asker) => !views.hides(server, tool, asker) && base.permits(server, tool, asker),
    pins: {
      ...base.pins,
      unapproved: (server, asker) =>
        base.pins.unapproved(server, asker).filter(({ tool }) => !views.hides(server, tool, asker)),
    },
    call: (call) => {
      // Whoever may not hear of something any more may say so.
      if (call.method === "resources/unsubscribe") return base.call(call);
      const refusal = views.refusal(scope, call);
      if (refusal) return Promise.reject(refusal);
      const made = call.method === "resources/subscribe" ? { ...call, uplink: whileShown(call) } : call;
      return views.isKnown(made) ? base.call(made) : onceKnown(made);
    },
  };
  /** What comes of a subscription is heard for as long as its server is there for who asked. */
  const whileShown = (call: Call): Uplink => ({
    notify(...said) {
      if (!views.refusal(scope, call)) call.uplink.notify(...said);
    },
    request: (...asked) => call.uplink.request(...asked),
  });
  /** What is no tool goes with the tools of its server: nothing passes before those are known. */
  const onceKnown = async (call: Call): Promise<Raw> => {
    const lease = await connect(base, call.server, call);
    try {
      const refusal = views.refusal(scope, call, true);
      if (refusal) throw refusal;
      return await base.call(call);
    } finally {
      lease.release();
    }
  };
  return scope;
}

/** Combinations of rights that are kept ready; more are made anew. */
const MOST_VIEWS = 1_000;

class FilteredViews {
  readonly #base: Scope;
  readonly #side: ListSide;
  #rules: object | undefined;
  #views = new WeakMap<CatalogView, Map<string, FilteredView>>();

  constructor(base: Scope, side: ListSide) {
    this.#base = base;
    this.#side = side;
  }

  of(asker: Asker): CatalogView {
    const base = this.#base.view(asker);
    const key = this.#side.keyOf(asker.principal);
    return key === undefined ? base : this.#filtered(base, key, asker.principal);
  }

  hides(server: string, tool: string, asker: Asker): boolean {
    if (this.#side.keyOf(asker.principal) === undefined) return false;
    const view = this.#base.view(asker);
    const listed = view.snapshot.tool(server, tool);
    return this.#side.hides(view, { server, name: tool, listed }, asker.principal);
  }

  /** Whether all is known that a call is judged by. */
  isKnown({ server, method, origin }: Call): boolean {
    if (method === "tools/call" || this.#side.keyOf(origin.principal) === undefined) return true;
    return this.#base.view(origin).snapshot.listings.has(server);
  }

  /** Why a call reaches nothing here: as if there were nothing. `asked`: what its server does not list now it never will. */
  refusal(
    scope: Scope,
    { server, method, tool, params, origin }: Call,
    asked = false,
  ): MetaMcpError | undefined {
    const key = this.#side.keyOf(origin.principal);
    if (key === undefined) return undefined;
    const view = this.#filtered(this.#base.view(origin), key, origin.principal);
    if (method === "tools/call") {
      const name = tool ?? nameIn(params);
      // What is in the list was judged when that was made.
      if (view.snapshot.tool(server, name) || !this.hides(server, name, origin)) return undefined;
      return noSuchTool(scope, { server, tool: name }, origin);
    }
    const listed = view.snapshot.listings.has(server);
    const closed = listed ? view.snapshot.closed.has(server) : asked && this.hides(server, "", origin);
    if (!closed) return undefined;
    return new MetaMcpError("server_not_found", `Server "${server}" has nothing available here.`, { server });
  }

  #filtered(base: CatalogView, key: string, principal: Principal): FilteredView {
    const side = this.#side;
    if (this.#rules !== side.rules) {
      this.#rules = side.rules;
      this.#views = new WeakMap();
    }
    let byKey = this.#views.get(base);
    if (!byKey) {
      byKey = new Map();
      this.#views.set(base, byKey);
    }
    let view = byKey.get(key);
    if (!view) {
      if (byKey.size >= MOST_VIEWS) byKey.clear();
      // As it is now: others of the same key see by it, whatever becomes of this one's rights.
      const as: Principal = { ...principal };
      view = new FilteredView(base, (server, name, listed) => side.hides(base, { server, name, listed }, as));
      byKey.set(key, view);
    }
    return view;
  }
}
