import { expect, test } from "vitest";
import { readTool } from "../catalog/read-tool.ts";
import type { Tool } from "../catalog/tool.ts";
import { toRaw } from "../kernel/raw.ts";
import { instructionsOf, purposeOf } from "./about-server.ts";
import { namesIn } from "./server-names.ts";

const tools = ["read_file", "write_file"].map((name) => readTool("s", toRaw({ name })) as Tool);
const listing = (about: object) => ({ tools, source: "live" as const, about });

test("purposeOf takes the first sentence of the instructions, else title and tool names", () => {
  const said = "# Files\n\n- Reads and writes files below one folder. Be careful.\nMore.";
  expect(purposeOf("s", listing({ instructions: said }))).toBe("Reads and writes files below one folder.");
  expect(purposeOf("s", listing({ title: "Files" }))).toBe("Files: read_file, write_file");
  expect(purposeOf("s", listing({ title: "s" }))).toBe("read_file, write_file");
  expect(purposeOf("s", { ...listing({}), tools: [] })).toBeUndefined();
  expect(purposeOf("s", listing({ instructions: "word ".repeat(200) }))?.length).toBeLessThanOrEqual(120);
});

test("instructionsOf cuts instructions at 1,000 characters", () => {
  expect(instructionsOf(listing({ instructions: " Be kind. " }))).toBe("Be kind.");
  expect(instructionsOf(listing({ instructions: "x".repeat(5_000) }))).toBe(`${"x".repeat(999)}…`);
  expect(instructionsOf(listing({}))).toBeUndefined();
});

test("namesIn shortens a long list of servers", () => {
  expect(namesIn([])).toBe("No servers are configured yet.");
  expect(namesIn(["a", "b"])).toBe("Servers: a, b.");
  const many = namesIn(Array.from({ length: 500 }, (_, n) => `server-${n}`));
  expect(many).toMatch(/^Servers: server-0, server-1, .* and \d+ more\.$/);
  expect(many.length).toBeLessThan(140);
  expect(namesIn(["x".repeat(300)])).toBe("Servers: 1 more.");
});
