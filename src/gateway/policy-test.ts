/**
 * Policy tests: what rules must say about calls. Judges with the explanation of calls, so a test and a call
 * cannot differ.
 */
import { pointer } from "../kernel/field-problem.ts";
import { settingsOf } from "./changes.ts";
import type { Explained } from "./endpoint/explanation.ts";
import type { Objects } from "./objects.ts";
import { Refusal } from "./refusal.ts";
import type { PolicyTest } from "./schemas.ts";
import type { TestResult } from "./test-result.ts";

export interface NamedTest extends PolicyTest {
  readonly name: string;
}

/** The tests of a config. */
export function testsIn(objects: Objects): readonly NamedTest[] {
  return Object.entries(settingsOf(objects)?.spec.tests ?? {}).map(([name, test]) => ({ name, ...test }));
}

export function resultOf(
  { name, as, tool, args, expect }: NamedTest,
  endpoint: string,
  explained: Explained,
): TestResult {
  const got = gotOf(explained);
  const by = decidingStep(explained);
  const state = got === "unknown" ? got : got === expect ? "passed" : "failed";
  return {
    name,
    endpoint,
    as,
    tool,
    expect,
    got,
    state,
    explained,
    ...(args && { args }),
    ...(by === undefined ? {} : { by }),
  };
}

/** What rules say about a call, in the words of a test. */
export function gotOf({ outcome }: Explained): TestResult["got"] {
  return ({ passes: "allow", answered: "allow", asks: "ask", refused: "deny", unknown: "unknown" } as const)[
    outcome
  ];
}

/** The step that ends the call, asks about it or allows it. */
function decidingStep({ outcome, steps }: Explained): string | undefined {
  const last = steps.at(-1);
  const step =
    outcome === "refused" || outcome === "unknown"
      ? last
      : outcome === "asks"
        ? steps.find(({ effect }) => effect === "ask" || effect === "approve")
        : steps.findLast(({ effect }) => effect === "allow");
  return step && `${step.use} (${step.at})${step.reason === undefined ? "" : `: ${step.reason}`}`;
}

export function testText({ name, as, tool, endpoint, expect, got, by }: TestResult): string {
  return `"${name}": ${as} calls ${tool} at ${endpoint}: expects ${expect}, got ${got}${by === undefined ? "" : ` by ${by}`}`;
}

/** The refusal of a change that would make these tests fail. */
export function testsFailed(tests: readonly TestResult[]): Refusal {
  const [first] = tests;
  const more = tests.length > 1 ? ` (and ${tests.length - 1} more)` : "";
  return new Refusal(
    "test_failed",
    `The policy test ${first ? testText(first) : ""}${more}. Change the rules or the test; nothing was changed`,
    {
      tests,
      errors: tests.map((test) => ({ path: pointer("/tests", test.name), message: testText(test) })),
    },
  );
}
