/** Route that lists the available layers. */
import type { Route } from "../route.ts";
import { ref } from "../schemas.ts";
import type { AdminParts } from "./parts.ts";

/** The objects whose `middleware` applies to a call, outermost first. */
const PLACES = ["settings", "endpoint", "namespace", "server"] as const;

export function layerRoutes({ layers }: AdminParts): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/layers",
      summary: "List the layers for a pipeline: what each does, its options and where it may be used",
      tag: "pipeline",
      action: "objects.read",
      answer: ref("Layers"),
      handle: async () => ({ body: { places: PLACES, items: await layers.describe() } }),
    },
  ];
}
