/**
 * Wraps a scope with the layers that hide tools. A hidden tool is in no list, search or hint, and cannot be
 * called.
 */
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { Tool } from "../catalog/tool.ts";
import type { Call, Uplink } from "../kernel/call.ts";
import type { MetaMcpError } from "../kernel/errors.ts";
import type { Asker } from "../kernel/list-key.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Raw } from "../kernel/raw.ts";
import { connect } from "./connect.ts";
import { FilteredView } from "./filtered-view.ts";
import { nameIn } from "./forward.ts";
import { noSuchTool } from "./no-such-tool.ts";
import { unknownServer } from "./require-server.ts";
import type { Scope, ScopeCatalog } from "./scope.ts";

/** The layers that hide tools, by the names that clients know. */
export interface ListLayers {
  /** Changes to another object when the layers or their inputs change. */
  readonly rules: object;
  /** Principals with the same key see the same tools. Undefined if nothing is hidden from the principal. */
  keyOf(principal: Principal): string | undefined;
  /** Nothing restricts the principal: no layer, and no tiers. */
  isOpen(principal: Principal): boolean;
  /** `view` is the unfiltered view. */
  hides(view: CatalogView, tool: HidableTool, principal: Principal): boolean;
  /** Whether no tool of the server can exist for the principal, even if its lists are not known. */
  hidesServer(view: CatalogView, server: string, principal: Principal): boolean;
}

export interface HidableTool {
  readonly server: string;
  /** Empty for the server itself, which is judged only if it has no tools. */
  readonly name: string;
  /** Undefined if the server does not list the tool. */
  readonly listed: Tool | undefined;
}

/** No layer can judge or record the others, so they are forwarded only where nothing restricts the client. */
const KNOWN_NOTIFICATIONS: ReadonlySet<string> = new Set([
  "notifications/roots/list_changed",
  "notifications/progress",
  "notifications/cancelled",
]);

export function layeredScope(base: Scope, layers: ListLayers): Scope {
  const views = new FilteredViews(base, layers);
  const scope: Scope = {
    ...base,
    view: (asker) => views.of(asker),
    permits: (server, tool, asker) => !views.hides(server, tool, asker) && base.permits(server, tool, asker),
    // A server without anything for the client does not exist for it.
    has: (name, asker) => base.has(name, asker) && !(asker && views.isDenied(name, asker)),
    servers: (asker) => base.servers(asker).filter(({ name }) => !asker || !views.isDenied(name, asker)),
    server: (name, asker) => (asker && views.isDenied(name, asker) ? undefined : base.server(name, asker)),
    loader: {
      loadMissing: async (servers, origin, ...how) =>
        views.shown(await base.loader.loadMissing(views.asked(servers, origin), origin, ...how), origin),
      loadMissingOwn: async (servers, origin, deadlineMs) =>
        views.shown(
          await base.loader.loadMissingOwn(views.asked(servers, origin), origin, deadlineMs),
          origin,
        ),
    },
    pins: {
      ...base.pins,
      unapproved: (server, asker) =>
        base.pins.unapproved(server, asker).filter(({ tool }) => !views.hides(server, tool, asker)),
    },
    notify: (origin, method, params) => {
      if (KNOWN_NOTIFICATIONS.has(method) || layers.isOpen(origin.principal))
        base.notify(origin, method, params);
    },
    call: (call) => {
      // A client may always unsubscribe, even from a resource that is hidden from it.
      if (call.method === "resources/unsubscribe") return base.call(call);
      const refusal = views.refusal(scope, call);
      if (refusal) return Promise.reject(refusal);
      const made = call.method === "resources/subscribe" ? { ...call, uplink: whileShown(call) } : call;
      return views.isKnown(made) ? base.call(made) : callOnceKnown(made);
    },
  };
  /** Drops notifications of a subscription once its server is hidden from the client. */
  const whileShown = (call: Call): Uplink => ({
    notify(...args) {
      if (!views.refusal(scope, call)) call.uplink.notify(...args);
    },
    request: (...args) => call.uplink.request(...args),
  });
  /**
   * Whether prompts and resources are hidden depends on the server's tools, so the server lists them first.
   */
  const callOnceKnown = async (call: Call): Promise<Raw> => {
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

/** Filtered views kept per base view. Beyond this they are discarded and made again on demand. */
const MAX_VIEWS = 1_000;

class FilteredViews {
  readonly #base: ScopeCatalog;
  readonly #layers: ListLayers;
  #rules: object | undefined;
  #views = new WeakMap<CatalogView, Map<string, FilteredView>>();

  constructor(base: ScopeCatalog, layers: ListLayers) {
    this.#base = base;
    this.#layers = layers;
  }

  of(asker: Asker): CatalogView {
    const base = this.#base.view(asker);
    const key = this.#layers.keyOf(asker.principal);
    return key === undefined ? base : this.#filtered(base, key, asker.principal);
  }

  hides(server: string, tool: string, asker: Asker): boolean {
    if (this.#layers.keyOf(asker.principal) === undefined) return false;
    const view = this.#base.view(asker);
    const listed = view.snapshot.tool(server, tool);
    return this.#layers.hides(view, { server, name: tool, listed }, asker.principal);
  }

  /** Whether nothing of the server is visible to the client, as far as that is known. */
  isDenied(server: string, { principal, ...asker }: Asker): boolean {
    const key = this.#layers.keyOf(principal);
    if (key === undefined) return false;
    const base = this.#base.view({ principal, ...asker });
    const { listings, closed } = this.#filtered(base, key, principal).snapshot;
    return listings.has(server) ? closed.has(server) : this.#layers.hidesServer(base, server, principal);
  }

  /** A denied server is not started for the client. */
  asked(servers: readonly string[], asker: Asker): readonly string[] {
    return servers.filter((server) => !this.isDenied(server, asker));
  }

  shown<T extends { readonly server: string }>(unknown: readonly T[], asker: Asker): readonly T[] {
    return unknown.filter(({ server }) => !this.isDenied(server, asker));
  }

  /** Whether the lists that decide about a call are known. */
  isKnown({ server, method, origin }: Call): boolean {
    if (method === "tools/call" || this.#layers.keyOf(origin.principal) === undefined) return true;
    return this.#base.view(origin).snapshot.listings.has(server);
  }

  /**
   * Returns the error for a call to something hidden: the same as if it did not exist. `asked`: the server
   * has been asked for its lists.
   */
  refusal(
    scope: ScopeCatalog,
    { server, method, tool, params, origin }: Call,
    asked = false,
  ): MetaMcpError | undefined {
    const key = this.#layers.keyOf(origin.principal);
    if (key === undefined) return undefined;
    const view = this.#filtered(this.#base.view(origin), key, origin.principal);
    if (method === "tools/call") {
      const name = tool ?? nameIn(params);
      // A tool in the filtered list is known to be visible.
      if (view.snapshot.tool(server, name) || !this.hides(server, name, origin)) return undefined;
      if (this.isDenied(server, origin)) return unknownServer(scope, server, origin);
      return noSuchTool(scope, { server, tool: name }, origin);
    }
    const listed = view.snapshot.listings.has(server);
    const closed = listed
      ? view.snapshot.closed.has(server)
      : this.isDenied(server, origin) || (asked && this.hides(server, "", origin));
    if (!closed) return undefined;
    return unknownServer(scope, server, origin);
  }

  #filtered(base: CatalogView, key: string, principal: Principal): FilteredView {
    const layers = this.#layers;
    if (this.#rules !== layers.rules) {
      this.#rules = layers.rules;
      this.#views = new WeakMap();
    }
    let byKey = this.#views.get(base);
    if (!byKey) {
      byKey = new Map();
      this.#views.set(base, byKey);
    }
    let view = byKey.get(key);
    if (!view) {
      if (byKey.size >= MAX_VIEWS) byKey.clear();
      // A copy, because other principals with the same key share the view, and the rights of this one may
      // change.
      const as: Principal = { ...principal };
      view = new FilteredView(base, (server, name, listed) =>
        layers.hides(base, { server, name, listed }, as),
      );
      byKey.set(key, view);
    }
    return view;
  }
}
