import { expect, test } from "vitest";
import { diffWords } from "./diff-words.ts";

const changed = (side: readonly { text: string; changed: boolean }[] | undefined) =>
  side?.filter((part) => part.changed).map(({ text }) => text);

test("only the words that differ are marked, and the texts stay whole", () => {
  const [before, after] = diffWords("Reads a file.", "Reads a file, and sends it away.") ?? [];
  expect(changed(before)).toEqual([]);
  expect(changed(after)).toEqual([", and sends it away"]);
  expect(after?.map(({ text }) => text).join("")).toBe("Reads a file, and sends it away.");
});

test("texts with hardly a common word are compared as a whole", () => {
  expect(diffWords("Looks around.", "Deletes the whole repository for ever")).toBeUndefined();
});
