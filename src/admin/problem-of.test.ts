import { expect, test } from "vitest";
import { AccessError } from "../access/error.ts";
import { Refusal } from "../gateway/refusal.ts";
import { StoreError } from "../store/error.ts";
import { problemOf } from "./problem-of.ts";

test("a refusal has its own type, title and what stands in the way", () => {
  const objects = [{ kind: "namespace", uuid: "u", name: "docs" }];
  const problem = problemOf(new Refusal("in_use", "remove it from docs first", { objects }));
  expect(JSON.parse(JSON.stringify(problem))).toEqual({
    type: "urn:metamcp:problem:in-use",
    title: "Still in use",
    status: 409,
    detail: "remove it from docs first",
    errors: [],
    objects,
  });
});

test("an error about accounts says in whole seconds when to come back", () => {
  const problem = problemOf(new AccessError("throttled", "too many attempts", 1_200));
  expect(problem).toMatchObject({ status: 429, fields: { headers: { "retry-after": "2" } } });
  expect(problemOf(new AccessError("code_unknown", "unknown code"))).toMatchObject({ status: 404 });
});

test("a lost answer of the store does not claim that nothing was changed", () => {
  const lost = problemOf(new StoreError("unavailable", "gone", undefined, true));
  expect(lost).toMatchObject({ status: 503, message: expect.stringContaining("check whether") });
  expect(problemOf(new StoreError("unavailable"))?.message).toContain("nothing was changed");
});

test("other errors have no problem, so that their text is not shown", () => {
  expect(problemOf(new StoreError("key_missing"))).toBeUndefined();
  expect(problemOf(new Error("secret"))).toBeUndefined();
});
