/** Creates the configured surface for sessions. */
import { AggregateSurface } from "./aggregate/aggregate.ts";
import { AutoSurface } from "./auto.ts";
import { createMetaSurface } from "./meta/meta.ts";
import { createMetatoolsSurface } from "./metatools/metatools.ts";
import type { Scope } from "./scope.ts";
import type { Surface } from "./surface.ts";

export type SurfaceName = "meta" | "metatools" | "aggregate" | "auto";

export interface SurfaceOptions {
  readonly surface: SurfaceName;
  /** Clients get list_changed notifications. */
  readonly notify: boolean;
}

/** Returns a function that returns the surface of a new session. Only the auto surface has one object per session. */
export function chooseSurface(scope: Scope, { surface, notify }: SurfaceOptions): () => Surface {
  if (surface === "metatools") {
    const metatools = createMetatoolsSurface(scope, { notify });
    return () => metatools;
  }
  const meta = createMetaSurface(scope);
  if (surface === "meta") return () => meta;
  const aggregate = new AggregateSurface(scope, { notify });
  return surface === "aggregate" ? () => aggregate : () => new AutoSurface(meta, aggregate, scope);
}
