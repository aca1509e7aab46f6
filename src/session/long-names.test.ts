import { expect, test } from "vitest";
import { asRaw, toRaw } from "../kernel/raw.ts";
import { LONGEST_NAME, refuseLongNames } from "./long-names.ts";

const LONG = "x".repeat(LONGEST_NAME);
const TOO_LONG = (key: string) => `${key} is too long: it may have at most ${LONGEST_NAME} bytes`;

test.each(["name", "uri", "cursor", "level", "taskId"])("%s may not have the size of a document", (key) => {
  expect(() => refuseLongNames(toRaw({ [key]: LONG }))).toThrow(TOO_LONG(key));
  expect(() => refuseLongNames(toRaw({ arguments: {}, [key]: [LONG] }))).toThrow(TOO_LONG(key));
  expect(() => refuseLongNames(toRaw({ [key]: LONG.slice(2) }))).not.toThrow();
});

test("the reference of a completion counts as a name, its argument does not", () => {
  expect(() => refuseLongNames(toRaw({ ref: { type: "ref/prompt", name: LONG } }))).toThrow(TOO_LONG("ref"));
  expect(() => refuseLongNames(toRaw({ ref: {}, argument: { name: "a", value: LONG } }))).not.toThrow();
});

test("a key with escapes is the same key, and of equal keys each counts", () => {
  expect(() => refuseLongNames(asRaw(Buffer.from(`{"n\\u0061me":"${LONG}"}`)))).toThrow(TOO_LONG("name"));
  expect(() => refuseLongNames(asRaw(Buffer.from(`{"uri":"${LONG}","uri":"a"}`)))).toThrow(TOO_LONG("uri"));
});

test("large arguments pass, and so does a request without params", () => {
  expect(() => refuseLongNames(toRaw({ name: "a", arguments: { name: LONG, uri: LONG } }))).not.toThrow();
  expect(() => refuseLongNames(undefined)).not.toThrow();
});
