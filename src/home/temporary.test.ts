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

/** One that has ended, and that nobody has yet to bury. */
const dead = spawnSync(process.execPath, ["--version"]).pid;

const temporaryOf = (pid: number, target = "x"): string =>
  temporaryBeside(join(folder, target)).replace(`-${process.pid}-`, `-${pid}-`);

const elsewhere = (path: string): string => path.replace(/metamcp-.{8}-/, "metamcp-0a1b2c3d-");

async function age(path: string, hours: number): Promise<void> {
  const then = new Date(Date.now() - hours * 3_600_000);
  await utimes(path, then, then);
}

const left = async (): Promise<string[]> => (await readdir(folder)).sort();
const names = (paths: readonly string[]): string[] => paths.map((path) => basename(path)).sort();

test("is hidden beside its target, and never the same twice", () => {
  const one = temporaryBeside(join(folder, "x"));
  expect(dirname(one)).toBe(folder);
  expect(basename(one)).toMatch(/^\.x\..*\.tmp$/);
  expect(temporaryBeside(join(folder, "x"))).not.toBe(one);
});

test("what the dead left goes, file or folder; what the living have stays, however old", async () => {
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
  expect(await left()).toEqual(names(living));
});

test("what another place left goes in time: its processes are not seen from here", async () => {
  const [old, young] = [elsewhere(temporaryOf(process.pid)), elsewhere(temporaryOf(dead))];
  for (const path of [old, young]) await writeFile(path, "");
  await age(old, 2);
  await sweep(folder);
  expect(await left()).toEqual(names([young]));
});

test("what only looks alike stays", async () => {
  const one = basename(temporaryOf(dead));
  const alike = [one.slice(1), `${one}2`, ".x.tmp", `.x.${dead}.tmp`, one.replace("metamcp", "other")];
  for (const name of alike) await writeFile(join(folder, name), "");
  await sweep(folder);
  expect(await left()).toEqual(alike.sort());
});

test.runIf(process.geteuid?.() === 0)("what belongs to another user stays", async () => {
  const path = temporaryOf(dead);
  await writeFile(path, "");
  await chown(path, 1234, 2345);
  await sweep(folder);
  expect(await left()).toEqual(names([path]));
});

test("who writes takes away what the dead left, and needs no folder to be there for it", async () => {
  await writeFile(temporaryOf(dead), "half");
  await writeAtomic(join(folder, "x"), "whole");
  expect(await left()).toEqual(["x"]);
  await expect(sweep(join(folder, "none"))).resolves.toBeUndefined();
});
