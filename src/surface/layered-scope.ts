/** A scope as the layers of its lists leave it: what they hide is in no list, search or hint, and no call reaches it. */
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { Tool } from "../catalog/tool.ts";
import type { Call } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Asker } from "../kernel/list-key.ts";
import type { Principal } from "../kernel/principal.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { members } from "../rpc/slice.ts";
import { noSuchTool } from "./call-tool.ts";
import { FilteredView } from "./filtered-view.ts";
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
      const refusal = views.refusal(scope, call);
      return refusal ? Promise.reject(refusal) : base.call(call);
    },
  };
  return scope;
}

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

  /** Why a call reaches nothing here: as if there were nothing. */
  refusal(scope: Scope, { server, method, tool, params, origin }: Call): MetaMcpError | undefined {
    const key = this.#side.keyOf(origin.principal);
    if (key === undefined) return undefined;
    const view = this.#filtered(this.#base.view(origin), key, origin.principal);
    if (method === "tools/call") {
      const name = tool ?? nameIn(params);
      // What is in the list was judged when that was made.
      if (view.snapshot.tool(server, name) || !this.hides(server, name, origin)) return undefined;
      return noSuchTool(scope, { server, tool: name }, origin);
    }
    if (!view.snapshot.closed.has(server)) return undefined;
    return new MetaMcpError("server_not_found", `Server "${server}" offers nothing here.`, { server });
  }

  #filtered(base: CatalogView, key: string, principal: Principal): FilteredView {
    const side = this.#side;
    if (this.#rules !== side.rules) {
      this.#rules = side.rules;
      this.#views = new WeakMap();
    }
    const byKey = this.#views.get(base) ?? new Map<string, FilteredView>();
    this.#views.set(base, byKey);
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

/** Combinations of rights that are kept ready; more are made anew. */
const MOST_VIEWS = 1_000;

function nameIn(params: Raw): string {
  const [name] = members(params, ["name"]);
  return String(name && fromRaw(name));
}
