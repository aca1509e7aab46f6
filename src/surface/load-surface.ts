/** Loads one surface, for a process that serves no other. */
import type { SurfaceKind, SurfaceName } from "./kind.ts";
import { meta } from "./meta/meta.ts";

export async function loadSurface(name: SurfaceName): Promise<SurfaceKind> {
  switch (name) {
    // The default, and small: what runs its tools is loaded with the first call.
    case "meta":
      return meta;
    case "metatools":
      return (await import("./metatools/metatools.ts")).metatools;
    case "aggregate":
      return (await import("./aggregate/aggregate.ts")).aggregate;
    case "auto":
      return (await import("./auto.ts")).auto;
  }
}
