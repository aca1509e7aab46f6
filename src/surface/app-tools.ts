/**
 * Tools that only apps may call (MCP Apps) are hidden from models. An app calls the tools of its own server
 * by their bare names.
 */
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { Tool } from "../catalog/tool.ts";
import { isFor, knowsApps } from "../catalog/tool-app.ts";
import type { Origin } from "../kernel/call.ts";
import type { Asker } from "../kernel/list-key.ts";
import { perObject } from "../kernel/per-object.ts";
import { FilteredView, type IsHidden } from "./filtered-view.ts";
import type { Scope } from "./scope.ts";

/** Whether an app of another server, or none at all, may mean a listed tool by its name. */
export function concernsApps(name: string, { name: own, definition }: Tool, origin: Origin): boolean {
  return knowsApps(origin.capabilities) && (name === own || !isFor("model", definition));
}

/** The scope without tools that are not for models. `seesAll`: clients whose host hides them itself. */
export function forModels(scope: Scope, seesAll: (asker: Asker) => boolean = () => false): Scope {
  const view = (asker: Asker): CatalogView =>
    seesAll(asker) ? scope.view(asker) : filtered(scope.view(asker));
  return { ...scope, view };
}

/** On the path of every call. */
const filtered = perObject((base: CatalogView): FilteredView => {
  const isHidden: IsHidden = (_server, _name, tool) => tool !== undefined && !isFor("model", tool.definition);
  return new FilteredView(base, isHidden);
});
