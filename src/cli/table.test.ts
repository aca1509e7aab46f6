import { expect, test } from "vitest";
import { table } from "./table.ts";

test("control characters and line breaks in cells are removed", () => {
  const shown = table(["NAME", "TEXT"], [["a\u001b[2Jb", "x\u009b31my\u202ez\r\nw"]]);
  expect(shown).toBe("NAME   TEXT\na[2Jb  x31myz w");
});
