import { expect, it } from "vitest";
import { toShownRows, updateInPlace } from "./stable-rows.ts";

const rows = (text: string) =>
  toShownRows(
    text.split(" ").map((one) => ({ key: one[0] ?? "", value: one })),
    ({ key }) => key,
  );
const format = (shown: ReturnType<typeof rows>) =>
  shown.map(({ row, removed }) => (removed ? `(${row.value})` : row.value)).join(" ");

it("updateInPlace keeps positions, updates values and counts new rows", () => {
  const { shown, pending } = updateInPlace(rows("a1 b1 c1"), rows("x1 c2 b1 a2 y1"));
  expect(format(shown)).toBe("a2 b1 c2");
  expect(pending).toBe(2);
});

it("updateInPlace keeps removed rows in position and restores them if they return", () => {
  const reduced = updateInPlace(rows("a1 b1 c1"), rows("a1 c1")).shown;
  expect(format(reduced)).toBe("a1 (b1) c1");
  expect(format(updateInPlace(reduced, rows("a1 c1")).shown)).toBe("a1 (b1) c1");
  expect(format(updateInPlace(reduced, rows("b2 a1 c1")).shown)).toBe("a1 b2 c1");
});

it("updateInPlace reuses the objects of the new rows", () => {
  const fresh = rows("a1 b1");
  expect(updateInPlace(rows("b1 a1"), fresh).shown[1]).toBe(fresh[0]);
});
