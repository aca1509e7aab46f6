import { mkdirSync } from "node:fs";
import { expect, test } from "vitest";
import { temp } from "../../test/support/temp.ts";
import { ignoresProxies } from "../config/touches.ts";
import { type NewSandbox, newSandbox } from "./new-sandbox.ts";

test("a new server may write to folders and read files that its arguments name", () => {
  const { path, write, folder } = temp();
  mkdirSync(path("notes"));
  const settings = write("settings.json", "{}");
  const context = { folder: path("."), env: { HOME: folder } };
  const of = (...args: readonly string[]) => newSandbox({ command: "npx", args }, context);
  expect(of("-y", "server@1.2.3")).toBe(true);
  expect(of("notes")).toBe(true);
  expect(of("./nowhere", "https://a.example/")).toBe(true);
  expect(of("server", "./notes", settings, "~/work/notes")).toEqual({
    write: [path("notes")],
    read: [settings],
  });
});

test("a variable for a folder is a place whose value is known later", () => {
  const entry = { command: "npx", args: ["-y", "files", "${FILES_FOLDER}", "${FILES_TOKEN}"] };
  expect(newSandbox(entry, { folder: "/", env: {} })).toEqual({ write: ["${FILES_FOLDER}"] });
});

test("the script of an interpreter is its program, and needs no place of its own", () => {
  const { path, write } = temp();
  const script = write("server.mjs", "");
  const context = { folder: path("."), env: {} };
  expect(newSandbox({ command: "/usr/bin/node", args: [script] }, context)).toBe(true);
  expect(newSandbox({ command: "docker", args: ["run", "x"] }, context)).toBe(undefined);
});

test("what the gallery says that a server needs is kept, hosts only where Node uses the proxy", () => {
  const of = (sandbox: NewSandbox, ...args: readonly string[]) =>
    newSandbox({ command: "npx", args, sandbox }, { folder: "/", env: {} });
  expect(of({ network: "none" })).toEqual({ network: "none" });
  expect(of({ network: "none" }, "${NOTES_DIR}")).toEqual({ write: ["${NOTES_DIR}"], network: "none" });
  const hosts = { network: ["a.example"] };
  expect(of(hosts)).toEqual(ignoresProxies(process.versions.node) ? true : hosts);
});
