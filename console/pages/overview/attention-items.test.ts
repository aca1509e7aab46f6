import { expect, test } from "vitest";
import { shownItems } from "./attention-items.ts";

const failing = Array.from({ length: 13 }, () => ({ kind: "server.failed" as const }));

test("many failing servers do not hide what waits for a decision", () => {
  const waiting = { kind: "approvals.waiting" as const };
  const shown = shownItems([...failing, waiting]);
  expect(shown).toHaveLength(6);
  expect(shown.at(-1)).toBe(waiting);
});

test("eight problems are all shown, whatever they are", () => {
  expect(shownItems(failing.slice(0, 8))).toHaveLength(8);
});
