/** The scope of the pinned tools. Only what is visible is narrowed: their calls stay as they are. */
import type { CatalogView } from "../../catalog/catalog-view.ts";
import type { ToolId } from "../../kernel/tool-id.ts";
import { FilteredView } from "../filtered-view.ts";
import { OWN_TOOL_NAMES } from "../layered-requests.ts";
import type { Scope, ServerRules } from "../scope.ts";

type Specs = ReadonlyMap<string, ServerRules>;

interface Pinned {
  /** What it was made of. */
  readonly list: readonly ToolId[];
  readonly all: Specs;
  readonly has: (server: string, tool: string) => boolean;
  readonly specs: Specs;
  readonly views: WeakMap<CatalogView, FilteredView>;
}

export function pinnedScope(scope: Scope): Scope {
  let known: Pinned | undefined;
  const pinned = (): Pinned => {
    const list = scope.pinned();
    const all = scope.specs();
    if (known?.list !== list || known.all !== all) known = pinnedOf(list, all);
    return known;
  };
  return {
    ...scope,
    specs: () => pinned().specs,
    view: (asker) => {
      const { has, views } = pinned();
      const base = scope.view(asker);
      let view = views.get(base);
      if (!view) {
        view = new FilteredView(base, (server, tool) => !has(server, tool));
        views.set(base, view);
      }
      return view;
    },
    permits: (server, tool, asker) => pinned().has(server, tool) && scope.permits(server, tool, asker),
    pins: {
      ...scope.pins,
      unapproved: (server, asker) =>
        scope.pins.unapproved(server, asker).filter(({ tool }) => pinned().has(server, tool)),
    },
  };
}

function pinnedOf(list: readonly ToolId[], all: Specs): Pinned {
  const tools = new Map<string, Set<string>>();
  for (const { server, tool } of list) tools.set(server, (tools.get(server) ?? new Set()).add(tool));
  const specs = new Map(
    [...all].flatMap(([server, rules]) => {
      const own = tools.get(server);
      return own ? [[server, withSafePrefix(rules, own)] as const] : [];
    }),
  );
  const has = (server: string, tool: string): boolean => tools.get(server)?.has(tool) ?? false;
  return { list, all, has, specs, views: new WeakMap() };
}

/** A tool without a prefix could have the name of one of our own, which is in the same list. */
function withSafePrefix(rules: ServerRules, pinned: ReadonlySet<string>): ServerRules {
  const isTaken = rules.prefix === "none" && OWN_TOOL_NAMES.some((name) => pinned.has(name));
  return isTaken ? { ...rules, prefix: "server" } : rules;
}
