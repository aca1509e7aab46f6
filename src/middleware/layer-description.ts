/** A kind of layer, as people choose it for a pipeline. */
import { ANY_OBJECT, BOOLEAN, object, type Static, TEXT, TEXTS } from "../kernel/json-schema.ts";

export const LAYER_DESCRIPTION = object(
  {
    use: { ...TEXT, description: "its name in an entry" },
    guards: { ...BOOLEAN, description: "only administrators change it" },
    schema: { ...ANY_OBJECT, description: "JSON Schema of its options" },
    inside: { ...TEXTS, description: "layers that must come before it in the pipeline" },
  },
  {
    summary: { ...TEXT, description: "what it does" },
    fault: { ...TEXT, description: "for a custom layer: why it cannot be used" },
  },
);
export type LayerDescription = Static<typeof LAYER_DESCRIPTION>;
