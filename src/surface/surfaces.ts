/** All surfaces, for a gateway, whose endpoints may have any of them. */
import { aggregate } from "./aggregate/aggregate.ts";
import { auto } from "./auto.ts";
import type { SurfaceKind, SurfaceName } from "./kind.ts";
import { meta } from "./meta/meta.ts";
import { metatools } from "./metatools/metatools.ts";

export const SURFACES: Readonly<Record<SurfaceName, SurfaceKind>> = { meta, metatools, aggregate, auto };
