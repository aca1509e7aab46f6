/** The result of a policy test, as the admin API shows it. */
import { ANY_OBJECT, named, object, type Static, TEXT } from "../kernel/json-schema.ts";
import { EXPLAINED } from "./endpoint/explanation.ts";
import { EXPECTED } from "./schemas.ts";

export const TEST_RESULT = named(
  "PolicyTestResult",
  object(
    {
      name: TEXT,
      endpoint: { ...TEXT, description: "its name" },
      as: TEXT,
      tool: TEXT,
      expect: EXPECTED,
      got: {
        enum: [...EXPECTED.enum, "unknown"],
        description:
          "what the rules say; unknown: it depends on the kind of the tool, and its server has not been listed",
      },
      state: { enum: ["passed", "failed", "unknown"] },
      explained: EXPLAINED,
    },
    {
      args: ANY_OBJECT,
      by: { ...TEXT, description: "what decides: a layer, its place and its rule" },
    },
  ),
);
export type TestResult = Static<typeof TEST_RESULT>;
