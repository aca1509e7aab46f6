import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temp } from "../../../test/support/temp.ts";
import { cacheAdvice, isInstalled, npxFolder, removal } from "./npx-cache.ts";

const env = { HOME: "/home/u" };
const folderOf = (...args: string[]) => npxFolder({ command: "npx", args }, env);

test("the folder is that of npx: a hash of the packages as they are written", () => {
  // As npx 10 and 11 name it for this package.
  const folder = "/home/u/.npm/_npx/f415f6feddfd580c";
  expect(folderOf("-y", "@modelcontextprotocol/server-memory@2025.4.25")).toBe(folder);
  expect(folderOf("--package=b", "-p", "a", "run")).toBe(folderOf("-p", "a", "-p", "b", "run"));
  expect(folderOf("--cache", "/x", "a", "b")).toBe(folderOf("a"));
  expect(npxFolder({ command: "npx", args: ["a"] }, { npm_config_cache: "/c" })).toMatch(/^\/c\/_npx\//);
  expect([folderOf(), npxFolder({ command: "uvx", args: ["a"] }, env)]).toEqual([undefined, undefined]);
});

test("a package counts as installed once its folder has a manifest", () => {
  const { path } = temp();
  const folder = path("_npx");
  expect([isInstalled(folder), isInstalled(undefined)]).toEqual([false, false]);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), "{}");
  expect(isInstalled(folder)).toBe(true);
});

const FOLDER = "/home/u/.npm/_npx/0123456789abcdef";

test.each([
  ["npm error Invalid Version: \nnpm error A complete log", FOLDER],
  [
    `Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from ${FOLDER}/node_modules/x/i.js`,
    undefined,
  ],
  [`npm error code ENOTEMPTY\nnpm error path ${FOLDER}/node_modules/zod`, FOLDER],
])("a broken cache is named with the command that fixes it: %s", (output, folder) => {
  expect(cacheAdvice(output, folder)).toMatch(
    /interrupted install.*run: rm -rf \/home\/u\/\.npm\/_npx\/0123456789abcdef$/,
  );
});

test("a damaged download and other failures are told apart", () => {
  const unread = "npm error Could not read '/home/me/.npm/_npx/c98ccc168155bafa/package.json'";
  expect(cacheAdvice(unread, undefined)).toMatch(/rm -rf \/home\/me\/\.npm\/_npx\/c98ccc168155bafa$/);
  expect(cacheAdvice("npm error code EINTEGRITY", FOLDER)).toContain("npm cache clean --force");
  expect(cacheAdvice("npm error code E404", FOLDER)).toBeUndefined();
  expect(cacheAdvice("Error: Cannot find module './mine.js' in /srv/app", FOLDER)).toBeUndefined();
  expect(cacheAdvice("Invalid Version", FOLDER)).toBeUndefined();
  expect(removal("/a b/it's")).toBe("rm -rf '/a b/it'\\''s'");
});
