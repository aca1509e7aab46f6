import { expect, test } from "vitest";
import { CALL } from "../observe/call-schema.ts";
import { AUDIT_FIELDS } from "./observe-schemas.ts";

/** Exact sizes, durations and names of hidden tools have none. The approval is filtered by `approvedBy`. */
const WITHOUT_FILTER: ReadonlySet<string> = new Set([
  "asked",
  "durationMs",
  "requestBytes",
  "resultBytes",
  "approval",
]);

test("the audit log has a filter for every other field of a call", () => {
  const fields = Object.keys(CALL.properties).filter((name) => !WITHOUT_FILTER.has(name));
  expect(Object.keys(AUDIT_FIELDS)).toEqual(expect.arrayContaining(fields));
});
