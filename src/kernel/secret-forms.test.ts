import { expect, test } from "vitest";
import { spansOf, TOKENS } from "./secret-forms.ts";

test.each(["ghp_", "github_pat_", "AKIA"])(
  "a token that begins with %s is found whole, however long",
  (head) => {
    const token = `${head}${"a1".repeat(1_000)}`;
    const spans = TOKENS.flatMap((form) => spansOf(`use ${token} here`, form));
    expect(spans).toEqual([{ from: 4, to: 4 + token.length }]);
  },
);
