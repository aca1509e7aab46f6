import { execFileSync } from "node:child_process";
import {
  chmod,
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
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CLIENT_FILES, SECRET } from "../../test/support/client-files.ts";
import type { ClientProgram, Machine, Own } from "./client.ts";
import { installed, type Spot } from "./client-file.ts";
import { connect, planConnect } from "./connect.ts";
import { formatOf } from "./format-of.ts";
import { gather } from "./gather.ts";
import { merge } from "./merge.ts";
import { dig } from "./servers.ts";
import { CLIENTS } from "./table.ts";
import { planUndo, undo } from "./undo.ts";

let folder: string;
let home: string;
let machine: Machine;
let now = 0;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "metamcp-clients-"));
  home = join(folder, "metamcp-home");
  machine = { platform: "linux", home: join(folder, "user"), env: {} };
  await mkdir(machine.home);
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const OWN: Own = {
  command: "/opt/node/bin/node",
  args: ["/opt/lib/metamcp/dist/metamcp.js", "--config", "/home/a/.metamcp/mcp.json"],
  env: {},
};
const NEWER: Own = { ...OWN, command: "npx", args: ["-y", "metamcp@9.9.9", "--config", "/x.json"] };

const clientOf = (id: string): ClientProgram => {
  const found = CLIENTS.find((client) => client.id === id);
  if (!found) throw new Error(id);
  return found;
};
const put = async (path: string, text: string): Promise<string> => {
  const file = join(machine.home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
};
const spotOf = async (id: string): Promise<Spot> => {
  const [spot] = await installed([clientOf(id)], machine);
  if (!spot) throw new Error(`${id} is not installed`);
  return spot;
};
const enter = async (spot: Spot, own = OWN): Promise<boolean> =>
  await connect(spot, own, { home, now: new Date(now++) });
const entryIn = async ({ client, file }: Spot): Promise<unknown> => {
  const text = await readFile(file, "utf8");
  const doc = await (await formatOf(file)).parse({ path: file, text });
  return dig(doc, [...client.at(doc), "metamcp"]);
};

test.each(CLIENT_FILES)(
  "$id: its servers are read as they are meant",
  async ({ id, path, text, servers }) => {
    await put(path, text);
    const { found, faults } = await gather([clientOf(id)], machine);
    expect(faults).toEqual([]);
    const { taken } = merge(found, {});
    expect(Object.fromEntries(taken.map(({ as, entry }) => [as, entry]))).toEqual(servers);
  },
);

test.each(CLIENT_FILES)(
  "$id: connected once, all else kept, undone to the byte",
  async ({ id, path, text, edits }) => {
    const file = await put(path, text);
    const spot = await spotOf(id);
    expect(spot.file).toBe(join(machine.home, edits ?? path));
    const plan = await planConnect(spot, OWN);
    expect(plan.state).toBe("change");
    expect(JSON.stringify(plan)).not.toContain(SECRET);
    expect(await readFile(file, "utf8")).toBe(text);

    expect(await enter(spot)).toBe(true);
    expect(await entryIn(spot)).toEqual(spot.client.entry(OWN));
    if (!edits) {
      const lines = (await readFile(file, "utf8")).split("\n").map((line) => line.replace(/,$/, ""));
      for (const comment of text.match(/(?:\/\/ |# ).*/g) ?? []) expect(lines.join("\n")).toContain(comment);
    }
    expect(await enter(spot)).toBe(false);
    expect(await planConnect(spot, OWN)).toEqual({ state: "connected" });
    const { found } = await gather([spot.client], machine);
    expect(found.map(({ name }) => name)).not.toContain("metamcp");

    const [back] = await planUndo(CLIENTS, home);
    expect(back?.state).toBe("change");
    expect(JSON.stringify(back?.diff)).not.toContain(SECRET);
    await undo(spot.file, home);
    expect(await readFile(file, "utf8")).toBe(text);
    expect(await planUndo(CLIENTS, home)).toEqual([]);
    if (edits) expect(await readdir(join(machine.home, ".continue"))).toEqual(["config.yaml"]);
  },
);

test.each(CLIENT_FILES)("$id: an older entry of ours is renewed, then undone to the byte", async (one) => {
  await put(one.path, one.text);
  const spot = await spotOf(one.id);
  await enter(spot);
  expect(await enter(spot, NEWER)).toBe(true);
  expect(await entryIn(spot)).toEqual(spot.client.entry(NEWER));
  await undo(spot.file, home);
  expect(await readFile(join(machine.home, one.path), "utf8")).toBe(one.text);
});

test.each(CLIENT_FILES.filter(({ edits }) => !edits))(
  "$id: what was written since stays when we go",
  async ({ id, path, text }) => {
    const file = await put(path, text);
    const spot = await spotOf(id);
    await enter(spot);
    const comment = file.endsWith(".toml") ? "# later\n" : "// later\n";
    await writeFile(file, comment + (await readFile(file, "utf8")));
    await undo(file, home);
    const now = await readFile(file, "utf8");
    expect(now.startsWith(comment)).toBe(true);
    expect(await entryIn(spot)).toBeUndefined();
    const format = await formatOf(file);
    expect(await format.parse({ path: file, text: now })).toEqual(await format.parse({ path: file, text }));
  },
);

test.each(CLIENTS.map(({ id }) => ({ id })))(
  "$id: a file and folders that were not there are gone again",
  async ({ id }) => {
    const place = clientOf(id).places(machine)[0];
    await mkdir(place?.folder ?? "", { recursive: true });
    const spot = await spotOf(id);
    await enter(spot);
    expect((await stat(spot.file)).mode & 0o777).toBe(0o600);
    expect(await entryIn(spot)).toEqual(spot.client.entry(OWN));
    await undo(spot.file, home);
    expect(await readdir(place?.folder ?? "")).toEqual([]);
  },
);

test("whatever a file looks like, connecting keeps what it says, and undoing restores every byte", {
  timeout: 120_000,
}, async () => {
  const space = fc.constantFrom("", " ", "\n", "\n  ", "\t", " // c\n", "/* ünï */", "\n\n\t\t");
  const member = fc.tuple(fc.constantFrom("a", 'b"c', "", "__proto__", "mcp"), fc.jsonValue({ maxDepth: 2 }));
  const servers = fc.option(fc.array(member, { maxLength: 3 }));
  const shape = fc.record({
    gap: space,
    servers,
    others: fc.uniqueArray(member, { maxLength: 2, selector: ([key]) => key }),
    comma: fc.boolean(),
    crlf: fc.boolean(),
    mark: fc.boolean(),
    end: fc.constantFrom("", "\n", "\n\n"),
    link: fc.boolean(),
    mode: fc.constantFrom(0o600, 0o644, 0o664),
  });
  const file = join(machine.home, ".cursor", "mcp.json");
  const real = join(machine.home, "dotfiles.json");
  await mkdir(dirname(file));
  await fc.assert(
    fc.asyncProperty(shape, async ({ gap, others, comma, crlf, mark, end, link, mode, ...one }) => {
      await rm(file, { force: true });
      await rm(real, { force: true });
      const write = (key: string, value: string): string =>
        `${gap}${JSON.stringify(key)}:${gap}${value}${gap}`;
      const list = (parts: readonly string[]): string =>
        `{${parts.join(",")}${comma && parts.length > 0 ? "," : ""}${gap}}`;
      const named = one.servers?.map(([key, value]) => write(key, JSON.stringify(value)));
      const parts = [
        ...others.map(([key, value]) => write(key, JSON.stringify(value))),
        ...(named ? [write("mcpServers", list(named))] : []),
      ];
      const lines = `${mark ? "\uFEFF" : ""}${gap}${list(parts)}${end}`;
      const text = crlf ? lines.replaceAll("\n", "\r\n") : lines;
      const bytes = Buffer.from(text);
      await writeFile(link ? real : file, bytes);
      await chmod(link ? real : file, mode);
      if (link) await symlink(real, file);

      const spot = await spotOf("cursor");
      const { found } = await gather([spot.client], machine);
      if (await enter(spot)) {
        const after = await readFile(file, "utf8");
        expect(after.startsWith("\uFEFF")).toBe(mark);
        if (text.includes("\r\n")) expect(after.replaceAll("\r\n", "")).not.toContain("\n");
        expect((await gather([spot.client], machine)).found).toEqual(found);
        expect(await entryIn(spot)).toEqual(spot.client.entry(OWN));
        expect((await stat(file)).mode & 0o777).toBe(mode);
        await enter(spot, NEWER);
      }
      await undo(file, home);
      expect((await readFile(file)).equals(bytes)).toBe(true);
      expect((await lstat(file)).isSymbolicLink()).toBe(link);
      expect((await stat(file)).mode & 0o777).toBe(mode);
    }),
    { numRuns: 80 },
  );
});

test("what the user added to our entry stays when it is renewed", async () => {
  const own = `"command": "metamcp", "args": ["--old"], "env": { "METAMCP_TOKEN": "${SECRET}" }, "disabled": false`;
  const file = await put(".cursor/mcp.json", `{ "mcpServers": { "metamcp": { ${own} } } }`);
  const spot = await spotOf("cursor");
  expect(JSON.stringify(await planConnect(spot, OWN))).not.toContain(SECRET);
  await enter(spot);
  expect(await entryIn(spot)).toEqual({ ...OWN, env: { METAMCP_TOKEN: SECRET }, disabled: false });
  await undo(file, home);
  expect(await readFile(file, "utf8")).toContain("--old");
});

test.each([
  [
    "another server of our name",
    '{"mcpServers": {"metamcp": {"url": "https://other.example"}}}',
    /another server/,
  ],
  ["half a file", '{\n  "mcpServers": {', /mcp\.json:2:\d+: /],
  ["a list", '{"mcpServers": []}', /"mcpServers" is not an object/],
  ["two of the same key", '{"mcpServers": {}, "mcpServers": {"a": 1}}', /cannot be edited safely/],
  ["no text", Buffer.from([0x7b, 0xff, 0x7d]), /not UTF-8/],
])("%s is refused and left alone", async (_what, content, message) => {
  const file = await put(".cursor/mcp.json", "");
  await writeFile(file, content);
  const spot = await spotOf("cursor");
  expect(await planConnect(spot, OWN)).toMatchObject({
    state: "fault",
    message: expect.stringMatching(message),
  });
  await expect(enter(spot)).rejects.toThrow(message);
  expect(await readFile(file)).toEqual(Buffer.from(content));
});

test("under another name we are connected too", async () => {
  await put(
    ".cursor/mcp.json",
    '{"mcpServers": {"all": {"command": "npx", "args": ["-y", "metamcp@1.0.0"]}}}',
  );
  expect(await planConnect(await spotOf("cursor"), OWN)).toEqual({ state: "connected" });
});

test("a link to nothing is not replaced", async () => {
  await mkdir(join(machine.home, ".cursor"));
  await symlink(join(machine.home, "nowhere"), join(machine.home, ".cursor/mcp.json"));
  expect(await planConnect(await spotOf("cursor"), OWN)).toMatchObject({ state: "fault" });
});

test("a pipe is neither waited for nor replaced", async () => {
  const file = join(machine.home, ".cursor/mcp.json");
  await mkdir(dirname(file));
  execFileSync("mkfifo", [file]);
  expect(await planConnect(await spotOf("cursor"), OWN)).toMatchObject({
    state: "fault",
    message: expect.stringMatching(/not a regular file/),
  });
  expect((await gather([clientOf("cursor")], machine)).faults).toEqual([
    expect.stringMatching(/not a regular file/),
  ]);
  expect((await lstat(file)).isFIFO()).toBe(true);
});

test("what is nested too deeply is a fault, not a crash", async () => {
  const text = `{"a": ${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  await put(".cursor/mcp.json", text);
  expect(await planConnect(await spotOf("cursor"), OWN)).toMatchObject({
    state: "fault",
    message: expect.stringMatching(/mcp\.json: .*too deeply/),
  });
});

test.each([
  ["half of it", '{"edits": [{"client": "cur'],
  ["another thing", "[]"],
  ["an edit that says too little", '{"edits": [{"client": "cursor"}]}'],
])("a damaged record of what was edited is said and kept: %s", async (_what, text) => {
  const file = await put(".cursor/mcp.json", "{}");
  await mkdir(home);
  await writeFile(join(home, "clients.json"), text);
  await expect(enter(await spotOf("cursor"))).rejects.toThrow(/clients\.json: .*backups/);
  await expect(planUndo(CLIENTS, home)).rejects.toThrow(/clients\.json: /);
  expect(await readFile(file, "utf8")).toBe("{}");
  expect(await readFile(join(home, "clients.json"), "utf8")).toBe(text);
});

test("a lost copy still lets our entry be taken out", async () => {
  const file = await put(".cursor/mcp.json", '{\n  "mcpServers": {\n    "a": {}\n  }\n}\n');
  await enter(await spotOf("cursor"));
  await rm(join(home, "backups"), { recursive: true });
  await undo(file, home);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ mcpServers: { a: {} } });
});

test("files of ours are for the owner alone", async () => {
  await put(".cursor/mcp.json", "{}");
  await enter(await spotOf("cursor"));
  const backups = await readdir(join(home, "backups"));
  for (const path of ["clients.json", ...backups.map((name) => join("backups", name))]) {
    expect((await stat(join(home, path))).mode & 0o077).toBe(0);
  }
});

test("one broken file does not hide the others, and is named with line and column", async () => {
  await put(".cursor/mcp.json", '{\n  "mcpServers": {"a": }\n}');
  await put(".codex/config.toml", "[mcp_servers.a]\ncommand = 'x\n");
  await put(".continue/config.yaml", "mcpServers:\n  - name: [\n");
  await put(".gemini/settings.json", '{"mcpServers": {"good": {"command": "x"}}}');
  const { found, faults } = await gather(CLIENTS, machine);
  expect(found.map(({ name }) => name)).toEqual(["good"]);
  expect(faults).toEqual([
    expect.stringMatching(/mcp\.json:2:\d+: /),
    expect.stringMatching(/config\.toml:2:\d+: /),
    expect.stringMatching(/config\.yaml:\d+:\d+: /),
  ]);
});
