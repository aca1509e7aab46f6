/** Schemas of the routes for policies: tests, what rules match, and who may call what. */

import { EXPECTED, POLICY_TEST } from "../gateway/schemas.ts";
import { TEST_RESULT, type TestResult } from "../gateway/test-result.ts";
import {
  ANY_OBJECT,
  BOOLEAN,
  COUNT,
  list,
  named,
  object,
  type Static,
  TEXT,
  TEXTS,
  UUID,
} from "../kernel/json-schema.ts";
import { NAMED_OBJECT } from "../kernel/named-object.ts";

export const POLICY_TESTS = named("PolicyTests", object({ failed: COUNT, tests: list(TEST_RESULT) }));

export function testsBody(tests: readonly TestResult[]): Static<typeof POLICY_TESTS> {
  return { failed: tests.filter(({ state }) => state === "failed").length, tests };
}

const PLACE = object(
  { kind: { enum: ["settings", "endpoint", "namespace", "server"] } },
  { uuid: { ...TEXT, description: "uuid or name; not for settings" } },
);

const { endpoint, as, tool, args } = POLICY_TEST.properties;

export const POLICY_TRY = named(
  "PolicyTry",
  object(
    { endpoint, as, tool },
    {
      args,
      expect: EXPECTED,
      draft: {
        ...object({ at: PLACE, middleware: list(ANY_OBJECT) }),
        description: "layers that are not stored: judge as if this object had them",
      },
    },
  ),
);

const NAMES = { ...TEXTS, description: "the first of them" } as const;
const MATCHED = object({ count: COUNT, of: COUNT, names: NAMES });

export const POLICY_MATCH = named(
  "PolicyMatch",
  object({ at: PLACE, rules: { ...list(ANY_OBJECT), maxItems: 1_000 } }),
);
export const POLICY_MATCHES = named(
  "PolicyMatches",
  object({ rules: list(object({ tools: MATCHED, people: MATCHED, keys: MATCHED })) }),
);

export const MATRIX = named(
  "PolicyMatrix",
  object({
    tools: list(object({ server: NAMED_OBJECT, tool: TEXT, name: TEXT })),
    verdicts: {
      ...list(
        object(
          { effect: { enum: ["allow", "deny", "ask"] }, because: { ...TEXT, description: "what decides" } },
          {},
        ),
      ),
      description: "the different verdicts; a row names them by their place in this list",
    },
    people: list(
      object({
        uuid: UUID,
        name: TEXT,
        role: TEXT,
        refused: BOOLEAN,
        row: { ...list(COUNT), description: "one for each tool" },
      }),
    ),
    more: { ...COUNT, description: "people beyond the limit" },
  }),
);
