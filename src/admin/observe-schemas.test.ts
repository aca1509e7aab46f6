import { expect, test } from "vitest";
import { AUDIT_FIELDS, CALL } from "./observe-schemas.ts";

/** Nobody asks for an exact size or time; who said yes is asked for by its id. */
const NOT_ASKED: ReadonlySet<string> = new Set(["durationMs", "requestBytes", "resultBytes", "approval"]);

test("the audit log can be asked for every field of a call", () => {
  const fields = Object.keys(CALL).filter((name) => !NOT_ASKED.has(name));
  expect(Object.keys(AUDIT_FIELDS)).toEqual(expect.arrayContaining(fields));
});
