import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shown } from "./print.ts";

test("characters that a terminal acts on or hides are escaped; line breaks, tabs and emoji stay", () => {
  expect(shown("a\u001b[2Jb\u009bc\u202ed\r\ne\tf\rg")).toBe("a\\u{1b}[2Jb\\u{9b}c\\u{202e}d\ne\tf\\u{d}g");
  expect(shown("👩‍💻 ⚠️ naïve 读")).toBe("👩‍💻 ⚠️ naïve 读");
});

test("commands write only through print.ts, so that nothing unsafe reaches a terminal", () => {
  // The spinner writes its own sequences, and the gateway one line with its address.
  const own = new Set(["print.ts", "spinner.ts", "serve.ts", "log.ts"]);
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !own.has(name),
  );
  const writing = files.filter((name) =>
    /std(?:out|err)\.write\((?!"")|console\.(?:log|error)/.test(
      readFileSync(join(import.meta.dirname, name), "utf8"),
    ),
  );
  expect(writing).toEqual([]);
});
