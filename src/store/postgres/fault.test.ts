import { expect, test } from "vitest";
import { StoreError } from "../error.ts";
import { postgresFault } from "./fault.ts";

const fault = (code?: string) =>
  Object.assign(new Error("told by Postgres"), code === undefined ? {} : { code });

test.each([
  undefined,
  "ECONNREFUSED",
  "ETIMEDOUT",
  "08006",
  "57P01",
  "57P03",
  "53300",
  "25006",
  "25P03",
  "40P01",
  "28P01",
])("code %s means that the store is unavailable", (code) => {
  expect(postgresFault(fault(code))).toMatchObject({
    code: "unavailable",
    message: "Postgres: told by Postgres",
  });
});

test("a unique violation means taken, and other errors pass unchanged", () => {
  expect(postgresFault(fault("23505"))).toMatchObject({ code: "taken" });
  const mistake = fault("42601");
  expect(postgresFault(mistake)).toBe(mistake);
  const ours = new StoreError("conflict");
  expect(postgresFault(ours)).toBe(ours);
});

test("the message has the reason of the first of several addresses", () => {
  const several = new AggregateError([fault("ECONNREFUSED"), new Error("other")], "");
  expect(postgresFault(several)).toMatchObject({ message: "Postgres: told by Postgres" });
});
