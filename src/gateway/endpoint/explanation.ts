/** What would happen to a call at an endpoint, step by step. */
import { list, object, type Static, TEXT } from "../../kernel/json-schema.ts";
import { NAMED_OBJECT } from "../../kernel/named-object.ts";
import { EXPLAINED_STEP } from "../../middleware/explain.ts";

const EXPLAINED_TOOL = object({
  server: NAMED_OBJECT,
  tool: { ...TEXT, description: "the tool's name at the server" },
  name: { ...TEXT, description: "its name at this endpoint" },
});
export type ExplainedTool = Static<typeof EXPLAINED_TOOL>;

export const EXPLAINED = object(
  {
    outcome: {
      enum: ["passes", "asks", "answered", "refused", "unknown"],
      description:
        "asks: runs after somebody says yes; answered: does not reach the server; unknown: a server that may have the tool could not be listed",
    },
    steps: {
      ...list(EXPLAINED_STEP),
      description: "outermost first, up to the layer that ends the call",
    },
  },
  { code: { ...TEXT, description: "for a refusal: the error code" }, tool: EXPLAINED_TOOL },
);
export type Explained = Static<typeof EXPLAINED>;
