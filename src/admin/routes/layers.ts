/** Route that lists the available layers. */
import { LAYERS, PLACES } from "../pipeline-schemas.ts";
import { route } from "../route.ts";

import type { AdminParts } from "./parts.ts";

export function layerRoutes({ layers }: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/layers",
      summary: "List the layers for a pipeline: what each does, its options and where it may be used",
      tag: "pipeline",
      action: "objects.read",
      answer: LAYERS,
      handle: async () => ({ body: { places: PLACES, items: await layers.describe() } }),
    }),
  ];
}
