/** The schemas of layers, and of the explanation of a call. */
import { LAYER_DESCRIPTION } from "../gateway/control.ts";
import { EXPLAINED } from "../gateway/endpoint/explanation.ts";
import { ANY_OBJECT, extended, list, named, object } from "../kernel/json-schema.ts";
import { ACTOR } from "../kernel/principal.ts";

/** The objects whose `middleware` applies to a call, outermost first. */
export const PLACES = ["settings", "endpoint", "namespace", "server"] as const;

export const LAYERS = named(
  "Layers",
  object({
    places: { ...list({ enum: PLACES }), description: "the places of a pipeline, outermost first" },
    items: list(LAYER_DESCRIPTION),
  }),
);

export const EXPLAIN = named(
  "Explain",
  object(
    {
      tool: {
        type: "string",
        minLength: 1,
        maxLength: 512,
        description: "server:tool, or its name on the aggregate surface",
      },
    },
    {
      args: { ...ANY_OBJECT, default: {} },
      as: {
        type: "string",
        description: "uuid or e-mail address of an account, key:NAME or key:UUID; default: the caller",
      },
    },
  ),
);

export const EXPLANATION = named("Explanation", extended(EXPLAINED, { as: ACTOR }));
