import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT, temp } from "./temp.ts";

const { changedPaths, testsFor } = await import("../../scripts/changed-tests.mjs" as string);
const chosen = (...paths: string[]): string[] =>
  testsFor(paths, (folder: string) => existsSync(join(ROOT, folder)));

test("a change runs the folder of its name, the exceptions, or all tests for what everything uses", () => {
  expect(chosen("src/store/open-store.ts")).toEqual(["test/integration/store"]);
  expect(chosen("src/sandbox/wasm.ts")).toEqual(["test/attack", "test/integration/sandbox"]);
  expect(chosen("console/main.tsx", "docs/config.md")).toEqual(["test/browser", "test/pins"]);
  expect(chosen("test/integration/cli/add.test.ts")).toEqual(["test/integration/cli/add.test.ts"]);
  for (const path of ["src/kernel/raw.ts", "test/support/temp.ts", "package.json"])
    expect(chosen(path, "src/store/open-store.ts")).toEqual(["test/"]);
  expect(chosen("README.md", "src/store/revisions.test.ts")).toEqual([]);
});

test("every folder that it names exists", () => {
  const rooms = ["clients", "gateway", "library", "pages", "serving", "session", "sandbox", "catalog"];
  const tops = ["bench", "console", "data", "demo", "deploy", "docs", "examples"];
  for (const folder of chosen(...rooms.map((room) => `src/${room}/x.ts`), ...tops.map((top) => `${top}/x`)))
    expect([folder, existsSync(join(ROOT, folder))]).toEqual([folder, true]);
});

test("what is committed to main and not at origin counts as changed", () => {
  const folder = temp();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args], {
      cwd: folder.path("."),
      stdio: "pipe",
    });
  const commit = (path: string) => {
    folder.write(path, "text");
    git("add", "-A");
    git("commit", "-qm", path);
  };
  git("init", "-q", "-b", "main");
  commit("first");
  git("update-ref", "refs/remotes/origin/main", "HEAD");
  commit("second");
  folder.write("third", "text");
  expect(changedPaths(folder.path(".")).paths).toEqual(["second", "third"]);
});
