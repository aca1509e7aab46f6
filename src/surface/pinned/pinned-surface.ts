/** The aggregate surface of the pinned tools alone. */
import { AggregateSurface } from "../aggregate/aggregate.ts";
import { mayBelongTo } from "../aggregate/names.ts";
import type { Scope } from "../scope.ts";
import { pinnedScope } from "./pinned-scope.ts";

export class PinnedSurface extends AggregateSurface {
  readonly #shown: Scope;

  constructor(all: Scope) {
    const scope = pinnedScope(all);
    super(scope, { notify: false, judgesApps: false });
    this.#shown = scope;
  }

  /** Whether a pinned tool that is not known yet may have this name. */
  mayHave(name: string): boolean {
    return [...this.#shown.specs()].some(([server, { prefix }]) => mayBelongTo(server, prefix, name));
  }
}
