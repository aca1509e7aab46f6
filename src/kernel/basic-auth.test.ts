import { expect, test } from "vitest";
import { basicOf } from "./basic-auth.ts";

test.each([
  ["http://me:pass%40word@host/", "me:pass@word"],
  ["http://me:100%@host/", "me:100%"],
  ["http://me@host/", "me:"],
  ["http://:key@host/", ":key"],
])("the header for %s contains %s", (url, pair) => {
  expect(basicOf(new URL(url))).toBe(`Basic ${Buffer.from(pair).toString("base64")}`);
});

test("a URL without user and password gives no header", () => {
  expect(basicOf(new URL("http://host/"))).toBeUndefined();
});
