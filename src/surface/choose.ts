/** Which surface a session gets. */
import { AggregateFace } from "./aggregate/aggregate.ts";
import { AutoFace } from "./auto.ts";
import type { Face } from "./face.ts";
import { createMetaFace } from "./meta/meta.ts";
import { createMetatoolsFace } from "./metatools/metatools.ts";
import type { Scope } from "./scope.ts";

export type Surface = "meta" | "metatools" | "aggregate" | "auto";

export interface SurfaceOptions {
  readonly surface: Surface;
  /** Clients are told when a list of theirs changes. */
  readonly notify: boolean;
}

/** Gives the face of each session in turn. */
export function chooseSurface(scope: Scope, { surface, notify }: SurfaceOptions): () => Face {
  if (surface === "metatools") {
    const metatools = createMetatoolsFace(scope, { notify });
    return () => metatools;
  }
  const meta = createMetaFace(scope);
  if (surface === "meta") return () => meta;
  const aggregate = new AggregateFace(scope, { notify });
  return surface === "aggregate" ? () => aggregate : () => new AutoFace(meta, aggregate);
}
