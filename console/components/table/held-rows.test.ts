import { expect, it } from "vitest";
import { freshRows, holdRows } from "./held-rows.ts";

const rows = (text: string) =>
  freshRows(
    text.split(" ").map((one) => ({ key: one[0] ?? "", value: one })),
    ({ key }) => key,
  );
const read = (shown: ReturnType<typeof rows>) =>
  shown.map(({ row, gone }) => (gone ? `(${row.value})` : row.value)).join(" ");

it("keeps places, takes values, counts what is new", () => {
  const { shown, news } = holdRows(rows("a1 b1 c1"), rows("x1 c2 b1 a2 y1"));
  expect(read(shown)).toBe("a2 b1 c2");
  expect(news).toBe(2);
});

it("keeps the place of what went, and takes it back should it return", () => {
  const gone = holdRows(rows("a1 b1 c1"), rows("a1 c1")).shown;
  expect(read(gone)).toBe("a1 (b1) c1");
  expect(read(holdRows(gone, rows("a1 c1")).shown)).toBe("a1 (b1) c1");
  expect(read(holdRows(gone, rows("b2 a1 c1")).shown)).toBe("a1 b2 c1");
});

it("renders rows that stay the same as the same object", () => {
  const fresh = rows("a1 b1");
  expect(holdRows(rows("b1 a1"), fresh).shown[1]).toBe(fresh[0]);
});
