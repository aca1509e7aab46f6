/** Which layers there are, for whoever puts a pipeline together. */
import type { Route } from "../route.ts";
import { ref } from "../schemas.ts";
import type { AdminParts } from "./parts.ts";

/** The outermost first: whatever stands in `middleware` of these, in this order, is around a call. */
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
