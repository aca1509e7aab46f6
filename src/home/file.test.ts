import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backup } from "./backup.ts";
import { makeFolder, readIfThere, writeAtomic } from "./file.ts";
import { homeFolder } from "./home.ts";
import { withLock } from "./lock.ts";
import { safeName } from "./safe-name.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "metamcp-home-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

test("writes for the owner alone, in folders for the owner alone, and leaves nothing else behind", async () => {
  const path = join(folder, "a", "b", "x.json");
  await writeAtomic(path, "1");
  await writeAtomic(path, "2", { durable: false });

  expect(await readIfThere(path)).toBe("2");
  expect(await modeOf(path)).toBe(0o600);
  expect([await modeOf(join(folder, "a")), await modeOf(join(folder, "a", "b"))]).toEqual([0o700, 0o700]);
  expect(await readdir(join(folder, "a", "b"))).toEqual(["x.json"]);
});

test.skipIf(process.platform !== "linux")(
  "where no folder can be made, that is said and nobody waits",
  async () => {
    const path = join("/proc", "metamcp", "a", "x.json");
    const refusal = "/proc/metamcp cannot be created: no folder can be created in /proc";
    await expect(writeAtomic(path, "1")).rejects.toThrow(refusal);
    await expect(withLock(path, async () => {})).rejects.toThrow(refusal);
    await writeFile(join(folder, "file"), "");
    await expect(backup(join(folder, "file"), join("/proc", "metamcp"), new Date(0))).rejects.toThrow(
      refusal,
    );
  },
);

test("a folder is not made of a file, nor below one", async () => {
  await writeFile(join(folder, "file"), "");
  await expect(makeFolder(join(folder, "file"))).rejects.toThrow("EEXIST");
  await expect(makeFolder(join(folder, "file", "a", "b"))).rejects.toThrow("ENOTDIR");
  await Promise.all([1, 2, 3].map(() => makeFolder(join(folder, "a", "b", "c"))));
  await makeFolder(folder);
  expect(await readdir(folder)).toEqual(["a", "file"]);
});

test("tightens a file that was open to others, and keeps its mode where asked", async () => {
  const path = join(folder, "x");
  await writeFile(path, "");
  await chmod(path, 0o664);
  await writeAtomic(path, "1", { mode: "keep" });
  expect(await modeOf(path)).toBe(0o664);
  await writeAtomic(path, "2");
  expect(await modeOf(path)).toBe(0o600);
});

test("a symbolic link stays one, and its target is written", async () => {
  await writeFile(join(folder, "target"), "old");
  await symlink("target", join(folder, "link"));
  await writeAtomic(join(folder, "link"), "new");
  expect((await lstat(join(folder, "link"))).isSymbolicLink()).toBe(true);
  expect(await readFile(join(folder, "target"), "utf8")).toBe("new");
});

test.runIf(process.geteuid?.() === 0)("a user's file that root edits stays the user's", async () => {
  const path = join(folder, "x");
  await writeFile(path, "");
  await chown(path, 1234, 2345);
  await writeAtomic(path, "1", { mode: "keep" });
  expect(await stat(path)).toMatchObject({ uid: 1234, gid: 2345 });
});

test("what is no file is not replaced by one, nor through a link", async () => {
  const path = join(folder, "socket");
  const server = createServer().listen(path);
  await new Promise((resolve) => server.once("listening", resolve));
  await symlink("socket", join(folder, "link"));
  for (const name of ["socket", "link"])
    await expect(writeAtomic(join(folder, name), "x")).rejects.toThrow(/is not a regular file/);
  expect((await lstat(path)).isSocket()).toBe(true);
  await new Promise((resolve) => server.close(resolve));
});

test("a write that fails leaves no temporary file", async () => {
  await mkdir(join(folder, "x"));
  await expect(writeAtomic(join(folder, "x"), "1")).rejects.toThrow();
  expect(await readdir(folder)).toEqual(["x"]);
});

test("only absence is undefined", async () => {
  await writeFile(join(folder, "file"), "");
  expect(await readIfThere(join(folder, "none"))).toBeUndefined();
  expect(await readIfThere(join(folder, "file", "below"))).toBeUndefined();
  expect(await readIfThere(join(folder, "file"))).toBe("");
  await expect(readIfThere(folder)).rejects.toThrow(/EISDIR/);
});

test("home is where the variable says", () => {
  expect(homeFolder({ HOME: "/h" })).toBe("/h/.metamcp");
  expect(homeFolder({ HOME: "/h", METAMCP_HOME: "" })).toBe("/h/.metamcp");
  expect(homeFolder({ HOME: "/h", METAMCP_HOME: "/m" })).toBe("/m");
  expect(homeFolder({ HOME: "/h", METAMCP_HOME: "~/m" })).toBe("/h/m");
});

test("a backup is a private copy, two of one moment are two, and the oldest go", async () => {
  const path = join(folder, ".mcp.json");
  const home = join(folder, "home");
  const now = new Date(0);
  expect(await backup(path, home, now)).toBeUndefined();
  await writeFile(path, "one");
  const first = await backup(path, home, now);
  await writeFile(path, "two");
  const second = await backup(path, home, now);

  expect(first).not.toBe(second);
  expect([await readFile(first ?? "", "utf8"), await readFile(second ?? "", "utf8")]).toEqual(["one", "two"]);
  expect(await modeOf(first ?? "")).toBe(0o600);
  expect(await modeOf(join(home, "backups"))).toBe(0o700);

  for (let later = 1; later <= 60; later++) await backup(path, home, new Date(later));
  const kept = await readdir(join(home, "backups"));
  expect(kept).toHaveLength(50);
  expect(kept.every((name) => !/\.000Z/.test(name))).toBe(true);
});

test("files of one name in two folders do not push out each other's backups", async () => {
  const home = join(folder, "home");
  for (const place of ["a", "b"]) {
    await mkdir(join(folder, place));
    await writeFile(join(folder, place, "x.json"), place);
  }
  const [a, b] = await Promise.all(
    ["a", "b"].map((place) => backup(join(folder, place, "x.json"), home, new Date(0))),
  );
  expect([await readFile(a ?? "", "utf8"), await readFile(b ?? "", "utf8")]).toEqual(["a", "b"]);
});

test.each(["github", "my-server_1.2", "GitHub", "x"])("%s is its own file name", (name) => {
  expect(safeName(name, "linux")).toBe(name);
});

test("every other name becomes a safe one of its own", () => {
  const names = [
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "a b",
    "a_b/",
    ".hidden",
    "x.",
    "-rf",
    "é",
    "日本",
    "a\0b",
    "x".repeat(300),
    "a~b",
    "~",
  ];
  const made = names.map((name) => safeName(name, "linux"));
  expect(made.every((name) => /^[\w-]*~[0-9a-f]{16}$/.test(name))).toBe(true);
  expect(new Set(made).size).toBe(names.length);
});

test("names that differ in case only are told apart where the file system does not", () => {
  const made = ["github", "GitHub", "GITHUB"].map((name) => safeName(name, "darwin").toLowerCase());
  expect(new Set(made).size).toBe(3);
  expect(made[0]).toBe("github");
});
