/** Attempts to leave the sandbox by what surrounds it: our own files, programs that we start, and links. */
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { programPlaces } from "../../src/child/stdio/confine/program.ts";
import { registryHosts } from "../../src/child/stdio/confine/registries.ts";
import { toolPath } from "../../src/config/tool-path.ts";
import { confined, EVALUATOR, WHY_NOT } from "../support/confined.ts";
import { ROOT, temp } from "../support/temp.ts";

const READ = "return (await load('fs')).readFileSync(given, 'utf8')";

function setPath(folder: string): void {
  const before = process.env["PATH"];
  process.env["PATH"] = `${folder}${delimiter}${before}`;
  onTestFinished(() => {
    process.env["PATH"] = before;
  });
}

test("programs that confine come from the system, not from a folder that a server can write", () => {
  const folder = temp();
  const bin = folder.path("node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  for (const name of ["bwrap", "perl", "prlimit", "env"] as const) {
    writeFileSync(join(bin, name), "#!/bin/sh\n");
    chmodSync(join(bin, name), 0o755);
    const before = toolPath(name);
    setPath(bin);
    expect(toolPath(name)).toBe(before);
  }
});

test("a registry that an entry names is no way to private addresses, nor past a floor", () => {
  const at = (url: string, hasFloor = false) => {
    const { hostname, port } = new URL(url);
    return registryHosts({ npm_config_registry: url }, hasFloor).allows(hostname, Number(port || 80));
  };
  expect(at("http://npm.example:4873/")).toBe(true);
  expect(at("http://npm.example:4873/", true)).toBe(false);
  for (const url of [
    "http://169.254.169.254/",
    "http://127.0.0.1:1/",
    "http://localhost/",
    "http://2130706433/",
    "http://[::ffff:10.0.0.1]/",
  ])
    expect(at(url), url).toBe(false);
});

test.each([
  ["of MetaMCP", "home/gateway/key", undefined],
  ["of a folder in the home of a user", "user/notes.txt", "user/notes.txt"],
  ["of a bundle", "home/bundles/b/run.sh", "home/bundles/b"],
])("a script %s shows no more than that", async (_what, script, shown) => {
  const { path } = temp();
  const file = path(script);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
  const homes = { metamcp: path("home"), user: path("user") };
  const found = await programPlaces("/bin/sh", { args: [file], cwd: "/" }, homes);
  expect(found.script).toBe(shown === undefined ? undefined : path(shown));
});

test("a script beside the data of others, and a home that is an environment of Python, show no folder", async () => {
  const { path } = temp();
  const homes = { metamcp: path("home"), user: path("user") };
  const { script } = await programPlaces("/bin/sh", { args: ["/etc/passwd"], cwd: "/" }, homes);
  expect(script).toBe("/etc/passwd");
  mkdirSync(path("user/bin"), { recursive: true });
  writeFileSync(path("user/pyvenv.cfg"), "");
  symlinkSync("/bin/sh", path("user/bin/python3"));
  const { programs } = await programPlaces(path("user/bin/python3"), { args: [], cwd: "/" }, homes);
  expect(programs).not.toContain(path("user"));
});

describe.skipIf(WHY_NOT !== undefined)(`around a sandbox${WHY_NOT ? ` (skipped: ${WHY_NOT})` : ""}`, () => {
  test.each([
    ["METAMCP_HOME", (folder: string) => folder],
    ["the program of MetaMCP", () => dirname(ROOT)],
    ["the program that runs MetaMCP", () => dirname(process.execPath)],
  ])("a place that contains %s cannot be written", async (_what, placeIn) => {
    await expect(confined(({ folder }) => ({ write: [placeIn(folder)] }))).rejects.toThrow(
      "contains places of MetaMCP",
    );
  });

  test("METAMCP_HOME is not listed by way of a link", async () => {
    const folder = temp();
    mkdirSync(folder.path("real"));
    const home = folder.path("link");
    symlinkSync(folder.path("real"), home);
    const secret = join(folder.path("real"), "key");
    writeFileSync(secret, "secret");
    const { inside } = await confined(() => ({ read: [folder.path(".")], network: "none" }), { home });
    expect(await inside(READ, secret)).toEqual({ error: "ENOENT" });
    expect(await inside(READ, join(home, "key"))).toEqual({ error: "ENOENT" });
    await expect(
      confined(() => ({ read: [folder.path("real")], network: "none" }), { home }),
    ).rejects.toThrow("is a place of MetaMCP");
  });

  test("secrets stay hidden if they are kept elsewhere, with a link in their place", async () => {
    const folder = temp();
    for (const name of ["user", "dotfiles/ssh"]) mkdirSync(folder.path(name), { recursive: true });
    folder.write("dotfiles/ssh/id", "secret");
    folder.write("dotfiles/netrc", "secret");
    symlinkSync(folder.path("dotfiles/ssh"), folder.path("user/.ssh"));
    symlinkSync(folder.path("dotfiles/netrc"), folder.path("user/.netrc"));
    const before = process.env["HOME"];
    process.env["HOME"] = folder.path("user");
    onTestFinished(() => {
      process.env["HOME"] = before;
    });
    const { inside } = await confined(() => ({ read: [folder.path(".")], network: "none" }));
    for (const name of ["dotfiles/ssh/id", "user/.ssh/id", "dotfiles/netrc", "user/.netrc"])
      expect(await inside(READ, folder.path(name)), name).not.toBe("secret");
  });

  test("under a floor the package of a script must be in its places", async () => {
    const folder = dirname(dirname(dirname(EVALUATOR)));
    await expect(confined(() => ({ network: "none", within: ["/nowhere"] }))).rejects.toThrow(
      "does not allow servers to read",
    );
    const { inside } = await confined(() => ({ network: "none", within: [folder] }));
    expect(await inside("return 1")).toBe(1);
  });

  test("variables of the loader and of Perl do not reach what holds the limits and the network", async () => {
    const evil = temp();
    const touched = evil.path("touched");
    evil.write("Evil.pm", `open(my $f, '>', '${touched}'); print $f 'x'; 1;`);
    const { inside } = await confined(
      () => ({ network: ["example.com"], memoryMb: 400, write: [evil.path(".")] }),
      {
        variables: { PERL5OPT: "-MEvil", PERL5LIB: evil.path("."), LD_PRELOAD: evil.path("none.so") },
      },
    );
    expect(await inside("return process.env.PERL5OPT")).toBe("-MEvil");
    expect(existsSync(touched)).toBe(false);
  });
});
