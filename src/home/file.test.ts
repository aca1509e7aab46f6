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

test("writeAtomic creates file and folders readable by the owner only and leaves no other files", async () => {
  const path = join(folder, "a", "b", "x.json");
  await writeAtomic(path, "1");
  await writeAtomic(path, "2", { durable: false });

  expect(await readIfThere(path)).toBe("2");
  expect(await modeOf(path)).toBe(0o600);
  expect([await modeOf(join(folder, "a")), await modeOf(join(folder, "a", "b"))]).toEqual([0o700, 0o700]);
  expect(await readdir(join(folder, "a", "b"))).toEqual(["x.json"]);
});

test.skipIf(process.platform !== "linux")(
  "writing, locking and backing up fail at once with a clear error where no folder can be created",
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

test("makeFolder fails if the path or its parent is a file, and accepts existing folders and concurrent calls", async () => {
  await writeFile(join(folder, "file"), "");
  await expect(makeFolder(join(folder, "file"))).rejects.toThrow("EEXIST");
  await expect(makeFolder(join(folder, "file", "a", "b"))).rejects.toThrow("ENOTDIR");
  await Promise.all([1, 2, 3].map(() => makeFolder(join(folder, "a", "b", "c"))));
  await makeFolder(folder);
  expect(await readdir(folder)).toEqual(["a", "file"]);
});

test("writeAtomic sets mode 0600 on an existing file unless it is told to keep the mode", async () => {
  const path = join(folder, "x");
  await writeFile(path, "");
  await chmod(path, 0o664);
  await writeAtomic(path, "1", { mode: "keep" });
  expect(await modeOf(path)).toBe(0o664);
  await writeAtomic(path, "2");
  expect(await modeOf(path)).toBe(0o600);
});

test("writeAtomic keeps a symbolic link and writes its target", async () => {
  await writeFile(join(folder, "target"), "old");
  await symlink("target", join(folder, "link"));
  await writeAtomic(join(folder, "link"), "new");
  expect((await lstat(join(folder, "link"))).isSymbolicLink()).toBe(true);
  expect(await readFile(join(folder, "target"), "utf8")).toBe("new");
});

test.runIf(process.geteuid?.() === 0)("writeAtomic as root keeps the owner of a user's file", async () => {
  const path = join(folder, "x");
  await writeFile(path, "");
  await chown(path, 1234, 2345);
  await writeAtomic(path, "1", { mode: "keep" });
  expect(await stat(path)).toMatchObject({ uid: 1234, gid: 2345 });
});

test("writeAtomic refuses to replace a socket, also through a symbolic link", async () => {
  const path = join(folder, "socket");
  const server = createServer().listen(path);
  await new Promise((resolve) => server.once("listening", resolve));
  await symlink("socket", join(folder, "link"));
  for (const name of ["socket", "link"])
    await expect(writeAtomic(join(folder, name), "x")).rejects.toThrow(/is not a regular file/);
  expect((await lstat(path)).isSocket()).toBe(true);
  await new Promise((resolve) => server.close(resolve));
});

test("a failed write leaves no temporary file", async () => {
  await mkdir(join(folder, "x"));
  await expect(writeAtomic(join(folder, "x"), "1")).rejects.toThrow();
  expect(await readdir(folder)).toEqual(["x"]);
});

test("readIfThere returns undefined for a missing file and throws on other errors", async () => {
  await writeFile(join(folder, "file"), "");
  expect(await readIfThere(join(folder, "none"))).toBeUndefined();
  expect(await readIfThere(join(folder, "file", "below"))).toBeUndefined();
  expect(await readIfThere(join(folder, "file"))).toBe("");
  await expect(readIfThere(folder)).rejects.toThrow(/EISDIR/);
});

test("homeFolder uses METAMCP_HOME, else ~/.metamcp", () => {
  expect(homeFolder({ HOME: "/h" })).toBe("/h/.metamcp");
  expect(homeFolder({ HOME: "/h", METAMCP_HOME: "" })).toBe("/h/.metamcp");
  expect(homeFolder({ HOME: "/h", METAMCP_HOME: "/m" })).toBe("/m");
  expect(homeFolder({ HOME: "/h", METAMCP_HOME: "~/m" })).toBe("/h/m");
});

test("backups are private, two in the same millisecond are both kept, and only the newest 50 stay", async () => {
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

test("files with the same name in two folders do not overwrite each other's backups", async () => {
  const home = join(folder, "home");
  for (const sub of ["a", "b"]) {
    await mkdir(join(folder, sub));
    await writeFile(join(folder, sub, "x.json"), sub);
  }
  const [a, b] = await Promise.all(
    ["a", "b"].map((sub) => backup(join(folder, sub, "x.json"), home, new Date(0))),
  );
  expect([await readFile(a ?? "", "utf8"), await readFile(b ?? "", "utf8")]).toEqual(["a", "b"]);
});

test.each(["github", "my-server_1.2", "GitHub", "x"])("safeName keeps %s unchanged", (name) => {
  expect(safeName(name, "linux")).toBe(name);
});

test("safeName turns each unsafe name into a different safe one", () => {
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
  const safe = names.map((name) => safeName(name, "linux"));
  expect(safe.every((name) => /^[\w-]*~[0-9a-f]{16}$/.test(name))).toBe(true);
  expect(new Set(safe).size).toBe(names.length);
});

test("names that differ only in case get different file names on a case-insensitive file system", () => {
  const safe = ["github", "GitHub", "GITHUB"].map((name) => safeName(name, "darwin").toLowerCase());
  expect(new Set(safe).size).toBe(3);
  expect(safe[0]).toBe("github");
});
