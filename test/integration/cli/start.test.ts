/** The start file: with stored code, without, and with code that cannot be used. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT, temp } from "../../support/temp.ts";

const INITIALIZE = `${JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
})}\n`;

/** A copy of the built program, as if it were just installed. */
function installed() {
  const folder = temp();
  const dist = folder.path("dist");
  for (const name of ["metamcp.js", "package.json", "chunk"])
    cpSync(join(ROOT, "dist", name), join(dist, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), folder.path("node_modules"));
  const chunk = join(dist, "chunk");
  const stored = (): string[] => readdirSync(chunk).filter((name) => name.includes(".compiled"));
  for (const name of stored()) rmSync(join(chunk, name));
  const start = (args: readonly string[], nodeFlags: readonly string[] = []) =>
    spawnSync(process.execPath, [...nodeFlags, join(dist, "metamcp.js"), ...args], {
      cwd: folder.path("."),
      env: folder.env,
      input: INITIALIZE,
      encoding: "utf8",
    });
  /** Until it listens. */
  const serve = async (): Promise<string> => {
    const child = spawn(process.execPath, [join(dist, "metamcp.js"), "serve", "--port", "0"], {
      cwd: folder.path("."),
      env: folder.env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let printed = "";
    child.stderr.on("data", (chunk: Buffer) => {
      printed += chunk;
      if (/^http/m.test(printed)) child.kill();
    });
    await once(child, "close");
    return printed;
  };
  const answers = (nodeFlags?: readonly string[]): boolean =>
    start(["--config", folder.config], nodeFlags).stdout.includes('"protocolVersion":"2025-06-18"');
  return { start, serve, answers, stored, file: (name: string) => join(chunk, name) };
}

test("the first client's run stores the compiled code, and the next run uses it unchanged", () => {
  const { answers, stored, file } = installed();
  expect(answers()).toBe(true);
  const [name = "", ...others] = stored();
  expect(others).toEqual([]);
  const content = readFileSync(file(name));
  expect(answers()).toBe(true);
  expect(readFileSync(file(name)).equals(content)).toBe(true);
});

test("a gateway stores what only it loads, uses it unchanged, and replaces what V8 refuses", async () => {
  const { serve, stored, file } = installed();
  expect(await serve()).toMatch(/^http/m);
  const [name = "", ...others] = stored();
  expect(name).toMatch(/^serve-/);
  expect(others).toEqual([]);
  const content = readFileSync(file(name));
  expect(await serve()).toMatch(/^http/m);
  expect(readFileSync(file(name)).equals(content)).toBe(true);
  writeFileSync(file(name), Buffer.alloc(content.length));
  expect(await serve()).toMatch(/^http/m);
  expect(readFileSync(file(name)).equals(Buffer.alloc(content.length))).toBe(false);
});

test("a command that does not serve stores nothing", () => {
  const { start, stored } = installed();
  expect(start(["--version"]).stdout).toMatch(/^\d+\.\d+\.\d+/);
  expect(start(["list"]).status).toBe(0);
  expect(stored()).toEqual([]);
});

test("code that V8 refuses is replaced, and other flags of Node have their own", () => {
  const { answers, stored, file } = installed();
  expect(answers()).toBe(true);
  const [name = ""] = stored();
  const whole = readFileSync(file(name)).length;
  for (const damaged of [Buffer.alloc(0), Buffer.alloc(whole), Buffer.from("not compiled code")]) {
    writeFileSync(file(name), damaged);
    expect(answers()).toBe(true);
    expect(readFileSync(file(name)).length).toBeGreaterThan(whole / 2);
  }
  expect(answers(["--no-opt"])).toBe(true);
  expect(stored()).toHaveLength(2);
});

test("a folder that cannot be written does not stop the start", () => {
  const { answers, stored, file } = installed();
  expect(answers()).toBe(true);
  const [name = ""] = stored();
  // Root may write everywhere, so a folder of that name is in the way.
  rmSync(file(name));
  cpSync(join(ROOT, "data/gallery"), file(name), { recursive: true });
  expect(answers()).toBe(true);
  expect(stored()).toEqual([name]);
});
