import fc from "fast-check";
import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const FILES = ["read_text_file", "write_file", "list_directory", "move_file", "search_files"];

test("nearest finds names with typing errors, another case or other separators", () => {
  expect(nearest("wirte_file", FILES)[0]).toBe("write_file");
  expect(nearest("tset", ["test"])).toEqual(["test"]);
  expect(nearest("listDirectory", FILES)).toEqual(["list_directory"]);
  expect(nearest("MOVE-FILE", FILES)[0]).toBe("move_file");
});

test("nearest finds names with common words, the most similar first", () => {
  expect(nearest("read", FILES)).toEqual(["read_text_file"]);
  expect(nearest("read_file", FILES)[0]).toBe("read_text_file");
  expect(nearest("filesystem_write_file", FILES)[0]).toBe("write_file");
});

test("nearest finds nothing for a name that is not similar to any", () => {
  expect(nearest("send_invoice", FILES)).toEqual([]);
  expect(nearest("", FILES)).toEqual([]);
  expect(nearest("x", [])).toEqual([]);
});

test("nearest works with other scripts", () => {
  expect(nearest("файлы_читать", ["читать_файлы", "отправить"])).toEqual(["читать_файлы"]);
});

test("nearest returns at most the requested number of names", () => {
  expect(nearest("file", FILES, 2)).toHaveLength(2);
  expect(nearest("file", FILES, 0)).toEqual([]);
});

test("nearest finds an existing name, and a name with one edit", () => {
  const name = fc.stringMatching(/^[a-z]{4,12}(_[a-z]{4,12})?$/);
  fc.assert(
    fc.property(name, fc.nat(), fc.array(name), (own, where, others) => {
      const at = where % own.length;
      expect(nearest(own, [...others, own])[0]?.replace("_", "")).toBe(own.replace("_", ""));
      const without = own.slice(0, at) + own.slice(at + 1);
      expect(nearest(without, [own])).toEqual([own]);
    }),
  );
});

test("nearest is fast for very long names and many candidates", () => {
  const long = "ab_".repeat(100_000);
  const many = Array.from({ length: 50_000 }, (_, at) => `tool_number_${at}_of_many`);
  expect(nearest(long, [long, ...many])).toEqual([long]);
  expect(nearest("tool_nubmer_777_of_many", many)[0]).toBe("tool_number_777_of_many");
});
