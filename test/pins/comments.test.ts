/** Comments are as wide as the code, which the formatter keeps; it leaves comments as they are. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const WIDTH = 110;
const COMMENT = /^\s*(?:\/\/|\/?\*)/;
/** A directive cannot be broken. */
const DIRECTIVE = /\/\/ (?:biome-ignore|oxlint-|eslint-|@ts-)/;

test.each(["src", "console"])("no comment in %s is wider than the code", (folder) => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  expect(files.length).toBeGreaterThan(100);
  const wide = files.flatMap((file) =>
    readFileSync(`${folder}/${file}`, "utf8")
      .split("\n")
      .flatMap((line, at) =>
        line.length > WIDTH && COMMENT.test(line) && !DIRECTIVE.test(line)
          ? `${folder}/${file}:${at + 1}`
          : [],
      ),
  );
  expect(wide).toEqual([]);
});
