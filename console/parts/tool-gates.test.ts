import { expect, test } from "vitest";
import { commonGates, ownGates } from "./tool-gates.ts";

const limit = "rate-limit: 600 per minute";
const approve = "policy: somebody else must approve";

test("a check that all usable tools have is common, and the others stay with their tool", () => {
  const rows = [
    { enabled: true, gates: [limit] },
    { enabled: true, gates: [approve, limit] },
    { enabled: false },
  ];
  expect(commonGates(rows)).toEqual([limit]);
  expect(rows.map((row) => ownGates(row, [limit]))).toEqual([[], [approve], []]);
});

test("one tool alone has nothing in common", () => {
  expect(commonGates([{ enabled: true, gates: [limit] }])).toEqual([]);
});
