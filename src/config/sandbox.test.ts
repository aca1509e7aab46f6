import { expect, test } from "vitest";
import { checkConfig } from "./check.ts";
import { consentItems } from "./consent.ts";
import type { EntryContext } from "./entry-context.ts";
import { beyondFloor, ownFolder, type Sandbox, shownSandbox } from "./sandbox.ts";
import { checkServer } from "./server.ts";

const CONTEXT: EntryContext = {
  path: "/project/.mcp.json",
  isGuarded: true,
  folder: "/project",
  env: { HOME: "/home/u", V: "v" },
};

function read(sandbox: unknown, more: Record<string, unknown> = {}, context: Partial<EntryContext> = {}) {
  const { result } = checkServer("x", { command: "x", sandbox, ...more }, { ...CONTEXT, ...context });
  if (result === "disabled") return "disabled";
  return "reason" in result ? result.reason : (result.spec as { sandbox?: Sandbox }).sandbox;
}

test("true confines a server to its own folder; false and nothing do not", () => {
  expect(read(true)).toEqual({ folder: "/project", read: [], write: [], network: "all" });
  expect(read(false)).toBe(undefined);
  expect(read(undefined)).toBe(undefined);
});

test("paths are absolute, with variables and ~ replaced", () => {
  expect(read({ read: ["~/a", "b"], write: ["/c/${V}"] })).toMatchObject({
    read: ["/home/u/a", "/project/b"],
    write: ["/c/v"],
  });
  expect(read({ read: ["${MISSING}/a"] })).toContain("MISSING is not set (used in sandbox.read[0])");
});

test.each([
  ["yes", "sandbox is a string: write true, false or { read"],
  [[], "sandbox is a list"],
  [{ reads: ["/a"] }, 'the key "sandbox.reads" is unknown: write "read"'],
  [{ read: "/a" }, "sandbox.read is a string: write a list"],
  [{ write: [""] }, "sandbox.write has an empty path"],
  [{ read: ["/"] }, "sandbox.read has /, and /proc of this machine must stay outside"],
  [{ write: ["/proc/1/root"] }, "sandbox.write has /proc/1/root, and /proc"],
  [{ network: "nothing" }, 'sandbox.network must be "all", "none" or a list of hosts'],
  [{ network: ["https://api.example.com"] }, 'sandbox.network has "https://api.example.com"'],
  [{ network: ["*"] }, 'sandbox.network has "*"'],
  [{ network: ["a.*.com"] }, "sandbox.network has"],
  [{ memoryMb: "100" }, "sandbox.memoryMb must be a whole number from 16"],
  [{ processes: 0 }, "sandbox.processes must be a whole number from 1"],
  [{ image: 1 }, "sandbox.image must be the name of a container image"],
  [{ image: "--privileged" }, "sandbox.image must be the name of a container image"],
  [{ image: "" }, "sandbox.image must be the name of a container image"],
  [{ images: "x" }, 'the key "sandbox.images" is unknown: write "image"'],
])("%j makes the entry unusable", (sandbox, reason) => {
  expect(read(sandbox)).toContain(reason);
});

test("an image is shown, and a floor may ask for it", () => {
  const sandbox = read({ image: "node:22-slim@sha256:ab", network: "none" }) as Sandbox;
  expect(shownSandbox(sandbox)).toBe(
    "in a container of node:22-slim@sha256:ab; writes /project; network: none",
  );
  const floor: Sandbox = { image: "own:1", read: [], write: [], network: "all" };
  expect(beyondFloor(sandbox, floor)).toBe('"image": "node:22-slim@sha256:ab"');
  expect(beyondFloor({ ...floor, image: undefined } as never, floor)).toBe('no "image"');
  expect(beyondFloor({ ...sandbox, image: "own:1" }, floor)).toBe(undefined);
});

test("a misspelt key makes the entry unusable, and at the top the file", () => {
  expect(read(undefined, { sanbox: true })).toContain('write "sandbox"');
  const file = (more: object) => () =>
    checkConfig({ mcpServers: {}, ...more }, { ...CONTEXT, overrides: {} });
  expect(file({ sandox: true })).toThrow('write "sandbox"');
  expect(file({ sandbox: { network: "off" } })).toThrow("sandbox.network");
});

test("the sandbox at the top is for local servers without one of their own", () => {
  const { servers } = checkConfig(
    {
      sandbox: { network: "none" },
      mcpServers: { a: { command: "a" }, b: { command: "b", sandbox: false }, c: { url: "https://c" } },
    },
    { ...CONTEXT, overrides: {} },
  );
  const found = [...servers.values()].map((spec) => "sandbox" in spec && spec.sandbox);
  expect(found).toEqual([{ folder: "/project", read: [], write: [], network: "none" }, false, false]);
});

test("what this machine cannot do makes the entry unusable with the reason", () => {
  const cannotConfine = (): string => "it needs bubblewrap: run it";
  expect(read(true, {}, { cannotConfine })).toBe("it needs bubblewrap: run it");
  expect(read(false, {}, { cannotConfine })).toBe(undefined);
});

test.each([
  ["/project", "/project"],
  ["/home/u/code", "/home/u/code"],
  ["/home/u", undefined],
  ["/home", undefined],
  ["/", undefined],
  ["/home/u/.metamcp", undefined],
  ["/home/u/.metamcp/bundles", undefined],
  ["/usr/lib/x", undefined],
  ["/tmp", undefined],
])("the working folder %s is the server's own: %s", (cwd, own) => {
  expect(ownFolder(cwd, { HOME: "/home/u" })).toBe(own);
});

test("the folder of a gateway is no server's own unless an entry names it", () => {
  expect(read(true, {}, { folderOfGateway: true })).not.toHaveProperty("folder");
  expect(read(true, { cwd: "/data/x" }, { folderOfGateway: true })).toHaveProperty("folder", "/data/x");
});

test("a server cannot write where the config is that confines it, unless a change needs permission", () => {
  expect(read(true, {}, { isGuarded: false })).not.toHaveProperty("folder");
  expect(read(true, { cwd: "/project/x" }, { isGuarded: false })).toHaveProperty("folder", "/project/x");
  for (const more of [
    { cwd: "/project" },
    { sandbox: { write: ["."] } },
    { sandbox: { write: ["/project"] } },
  ])
    expect(read(true, more, { isGuarded: false })).toContain("could end its own sandbox");
  expect(read({ write: ["."] })).toHaveProperty("write", ["/project"]);
});

test("a floor is for the working folder too", () => {
  const floor = { write: ["/data"], read: ["/ro"] };
  const at = (cwd: string) => read(undefined, { cwd }, { sandbox: { floor } });
  expect(at("/data/x")).toMatchObject({ folder: "/data/x", within: ["/ro", "/data"] });
  expect(at("/ro")).not.toHaveProperty("folder");
  expect(at("/elsewhere")).not.toHaveProperty("folder");
});

const base: Sandbox = { read: [], write: [], network: "all" };

test.each<[Partial<Sandbox> | undefined, Partial<Sandbox>, string | undefined]>([
  [undefined, {}, '"sandbox": false'],
  [{}, {}, undefined],
  [{ read: ["/a/b"] }, { read: ["/a"] }, undefined],
  [{ read: ["/a/b"] }, { write: ["/a"] }, undefined],
  [{ read: ["/ab"] }, { read: ["/a"] }, '"read": ["/ab"]'],
  [{ write: ["/a"] }, { read: ["/a"] }, '"write": ["/a"]'],
  [{ write: ["/a/../b"] }, { write: ["/a"] }, '"write": ["/a/../b"]'],
  [{}, { network: "none" }, '"network": "all"'],
  [{ network: ["a.example"] }, { network: "none" }, '"network": ["a.example"]'],
  [{ network: ["a.b.example"] }, { network: ["*.b.example"] }, undefined],
  [{ network: ["*.a.b.example"] }, { network: ["*.b.example"] }, undefined],
  [{ network: ["b.example"] }, { network: ["*.b.example"] }, '"network": ["b.example"]'],
  [{ network: ["*.example"] }, { network: ["*.b.example"] }, '"network": ["*.example"]'],
  [{}, { memoryMb: 100 }, 'no "memoryMb"'],
  [{ memoryMb: 200 }, { memoryMb: 100 }, '"memoryMb": 200'],
  [{ memoryMb: 50, processes: 5 }, { memoryMb: 100, processes: 5 }, undefined],
])("%j below the floor %j: %s", (sandbox, floor, beyond) => {
  expect(beyondFloor(sandbox && { ...base, ...sandbox }, { ...base, ...floor })).toBe(beyond);
});

test("a server that goes beyond the floor is unusable; without a sandbox of its own it gets the floor", () => {
  const sandbox = { floor: { network: ["*.example.com"] } };
  expect(read(false, {}, { sandbox })).toContain(
    'more than an administrator allows any server ("sandbox": false)',
  );
  expect(read({ network: ["api.example.com"] }, {}, { sandbox })).toHaveProperty("network", [
    "api.example.com",
  ]);
  expect(read(undefined, {}, { sandbox })).toHaveProperty("network", ["*.example.com"]);
  expect(read(undefined, {}, { sandbox: { default: false, ...sandbox } })).toContain(
    "more than an administrator",
  );
});

test("another sandbox needs the user's consent again, and entries without one keep theirs", () => {
  const digest = (entry: object, more: object = {}) =>
    consentItems({ mcpServers: { x: { command: "x", ...entry } }, ...more })[0]?.digest;
  // Stored by versions without sandboxes.
  expect(digest({})).toMatchInlineSnapshot(
    `"4adf5ae2b6ee274a48da5b464f74820182e7488e59aa14ae508697e10c3c9186"`,
  );
  const all = [
    digest({}),
    digest({ sandbox: true }),
    digest({ sandbox: false }),
    digest({ sandbox: { network: "none" } }),
  ];
  expect(new Set(all).size).toBe(4);
  expect(digest({}, { sandbox: true })).toBe(digest({ sandbox: true }));
});

test("people read what a server may touch", () => {
  expect(shownSandbox(undefined)).toBe("everything that its user may touch");
  expect(
    shownSandbox({
      ...base,
      folder: "/p",
      write: ["/w"],
      read: ["/r"],
      network: ["a.b"],
      memoryMb: 5,
      processes: 6,
    }),
  ).toBe("writes /p, /w; reads /r; network: a.b; 5 MB; 6 processes");
});
