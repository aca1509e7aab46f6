import fc from "fast-check";
import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const FILES = ["read_text_file", "write_file", "list_directory", "move_file", "search_files"];

test("mistyped, differently cased and differently joined names are found", () => {
  expect(nearest("wirte_file", FILES)[0]).toBe("write_file");
  expect(nearest("tset", ["test"])).toEqual(["test"]);
  expect(nearest("listDirectory", FILES)).toEqual(["list_directory"]);
  expect(nearest("MOVE-FILE", FILES)[0]).toBe("move_file");
});

test("a name that shares words is found, and the closest comes first", () => {
  expect(nearest("read", FILES)).toEqual(["read_text_file"]);
  expect(nearest("read_file", FILES)[0]).toBe("read_text_file");
  expect(nearest("filesystem_write_file", FILES)[0]).toBe("write_file");
});

test("what is far from everything has no neighbour", () => {
  expect(nearest("send_invoice", FILES)).toEqual([]);
  expect(nearest("", FILES)).toEqual([]);
  expect(nearest("x", [])).toEqual([]);
});

test("other scripts count as letters", () => {
  expect(nearest("файлы_читать", ["читать_файлы", "отправить"])).toEqual(["читать_файлы"]);
});

test("no more than asked for", () => {
  expect(nearest("file", FILES, 2)).toHaveLength(2);
  expect(nearest("file", FILES, 0)).toEqual([]);
});

test("a name that is there, and any single edit of it, is found", () => {
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

test("endless names among many are bearable", () => {
  const long = "ab_".repeat(100_000);
  const many = Array.from({ length: 50_000 }, (_, at) => `tool_number_${at}_of_many`);
  expect(nearest(long, [long, ...many])).toEqual([long]);
  expect(nearest("tool_nubmer_777_of_many", many)[0]).toBe("tool_number_777_of_many");
});
