import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { TOKENS } from "./page-style.ts";

test("the style tokens of the login pages equal those of the console", () => {
  const console = readFileSync(new URL("../../console/styles/tokens.css", import.meta.url), "utf8");
  const inOneLine = (text: string): string => text.replaceAll(/\s+/g, " ");
  const known = inOneLine(console);
  const used = inOneLine(TOKENS).split(";").slice(0, -1);
  expect(used.length).toBeGreaterThan(20);
  expect(used.filter((token) => !known.includes(`${token};`))).toEqual([]);
});
