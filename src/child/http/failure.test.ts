import { expect, test } from "vitest";
import { networkFailure, withUnsent } from "./failure.ts";

const failureOf = (code: string) =>
  networkFailure(Object.assign(new Error(code), { code }), "http://x", false);

test.each([
  ["ENOTFOUND", "offline", true],
  ["EAI_AGAIN", "offline", false],
  ["ECONNREFUSED", "offline", false],
  ["ETIMEDOUT", "offline", false],
  ["ECONNRESET", "offline", false],
  ["HPE_INVALID_CONSTANT", "other", true],
  ["EPROTO", "other", true],
  ["SELF_SIGNED_CERT_IN_CHAIN", "other", true],
  ["EUNKNOWN", "other", false],
])("%s is %s, and needs a fix: %s", (code, category, needsFix) => {
  expect(failureOf(code)).toMatchObject({ category, needsFix, unsent: true });
});

test("a failure keeps what is known about it when it turns out that the request may have been sent", () => {
  expect(withUnsent(failureOf("ENOTFOUND"), false)).toMatchObject({
    category: "offline",
    needsFix: true,
    unsent: false,
  });
});
