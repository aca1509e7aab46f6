import { spawnSync } from "node:child_process";
import { chown, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeAtomic } from "./file.ts";
import { sweep, temporaryBeside } from "./temporary.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "metamcp-temporary-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** The pid of a process that has ended and is not a zombie. */
const dead = spawnSync(process.execPath, ["--version"]).pid;

const temporaryOf = (pid: number, target = "x"): string =>
  temporaryBeside(join(folder, target)).replace(`-${process.pid}-`, `-${pid}-`);

const inOtherNamespace = (path: string): string => path.replace(/metamcp-.{8}-/, "metamcp-0a1b2c3d-");

async function age(path: string, hours: number): Promise<void> {
  const then = new Date(Date.now() - hours * 3_600_000);
  await utimes(path, then, then);
}

const remaining = async (): Promise<string[]> => (await readdir(folder)).sort();
const names = (paths: readonly string[]): string[] => paths.map((path) => basename(path)).sort();

test("temporaryBeside returns a hidden, unique name in the folder of its target", () => {
  const one = temporaryBeside(join(folder, "x"));
  expect(dirname(one)).toBe(folder);
  expect(basename(one)).toMatch(/^\.x\..*\.tmp$/);
  expect(temporaryBeside(join(folder, "x"))).not.toBe(one);
});

test("sweep removes files and folders of dead processes and keeps those of living ones, however old", async () => {
  const full = temporaryOf(dead, "folder");
  await mkdir(full);
  for (const path of [temporaryOf(dead), temporaryOf(dead, "y"), join(full, "file")])
    await writeFile(path, "");
  const living = [temporaryOf(process.pid), temporaryOf(process.ppid)];
  for (const path of living) {
    await writeFile(path, "");
    await age(path, 48);
  }
  await sweep(folder);
  expect(await remaining()).toEqual(names(living));
});

test("sweep removes files of another PID namespace only after an hour", async () => {
  const [old, young] = [inOtherNamespace(temporaryOf(process.pid)), inOtherNamespace(temporaryOf(dead))];
  for (const path of [old, young]) await writeFile(path, "");
  await age(old, 2);
  await sweep(folder);
  expect(await remaining()).toEqual(names([young]));
});

test("sweep keeps files whose names only resemble ours", async () => {
  const one = basename(temporaryOf(dead));
  const similar = [one.slice(1), `${one}2`, ".x.tmp", `.x.${dead}.tmp`, one.replace("metamcp", "other")];
  for (const name of similar) await writeFile(join(folder, name), "");
  await sweep(folder);
  expect(await remaining()).toEqual(similar.sort());
});

test.runIf(process.geteuid?.() === 0)("sweep keeps files of another user", async () => {
  const path = temporaryOf(dead);
  await writeFile(path, "");
  await chown(path, 1234, 2345);
  await sweep(folder);
  expect(await remaining()).toEqual(names([path]));
});

test("writeAtomic removes files remaining by dead processes, and sweep accepts a missing folder", async () => {
  await writeFile(temporaryOf(dead), "half");
  await writeAtomic(join(folder, "x"), "whole");
  expect(await remaining()).toEqual(["x"]);
  await expect(sweep(join(folder, "none"))).resolves.toBeUndefined();
});
