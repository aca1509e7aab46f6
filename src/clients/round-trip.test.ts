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
import type { ClientProgram, Machine, StartCommand } from "./client.ts";
import { type ClientFile, installed } from "./client-file.ts";
import { connect, planConnect } from "./connect.ts";
import { formatOf } from "./format-of.ts";
import { gather } from "./gather.ts";
import { merge } from "./merge.ts";
import { valueAt } from "./servers.ts";
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

const START: StartCommand = {
  command: "/opt/node/bin/node",
  args: ["/opt/lib/metamcp/dist/metamcp.js", "--config", "/home/a/.metamcp/mcp.json"],
  env: {},
};
const NEWER: StartCommand = {
  ...START,
  command: "npx",
  args: ["-y", "metamcp@9.9.9", "--config", "/x.json"],
};

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
const clientFileOf = async (id: string): Promise<ClientFile> => {
  const [clientFile] = await installed([clientOf(id)], machine);
  if (!clientFile) throw new Error(`${id} is not installed`);
  return clientFile;
};
const connectTo = async (clientFile: ClientFile, own = START): Promise<boolean> =>
  await connect(clientFile, own, { home, now: new Date(now++) });
const entryIn = async ({ client, file }: ClientFile): Promise<unknown> => {
  const text = await readFile(file, "utf8");
  const doc = await (await formatOf(file)).parse({ path: file, text });
  return valueAt(doc, [...client.at(doc), "metamcp"]);
};

test.each(CLIENT_FILES)("$id: the servers are read and translated", async ({ id, path, text, servers }) => {
  await put(path, text);
  const { found, faults } = await gather([clientOf(id)], machine);
  expect(faults).toEqual([]);
  const { taken } = merge(found, {});
  expect(Object.fromEntries(taken.map(({ as, entry }) => [as, entry]))).toEqual(servers);
});

test.each(CLIENT_FILES)(
  "$id: connect adds one entry and keeps the rest, and undo restores every byte",
  async ({ id, path, text, edits }) => {
    const file = await put(path, text);
    const clientFile = await clientFileOf(id);
    expect(clientFile.file).toBe(join(machine.home, edits ?? path));
    const plan = await planConnect(clientFile, START);
    expect(plan.state).toBe("change");
    expect(JSON.stringify(plan)).not.toContain(SECRET);
    expect(await readFile(file, "utf8")).toBe(text);

    expect(await connectTo(clientFile)).toBe(true);
    expect(await entryIn(clientFile)).toEqual(clientFile.client.entry(START));
    if (!edits) {
      const lines = (await readFile(file, "utf8")).split("\n").map((line) => line.replace(/,$/, ""));
      for (const comment of text.match(/(?:\/\/ |# ).*/g) ?? []) expect(lines.join("\n")).toContain(comment);
    }
    expect(await connectTo(clientFile)).toBe(false);
    expect(await planConnect(clientFile, START)).toEqual({ state: "connected" });
    const { found } = await gather([clientFile.client], machine);
    expect(found.map(({ name }) => name)).not.toContain("metamcp");

    const [back] = await planUndo(CLIENTS, home);
    expect(back?.state).toBe("change");
    expect(JSON.stringify(back?.diff)).not.toContain(SECRET);
    await undo(clientFile.file, home);
    expect(await readFile(file, "utf8")).toBe(text);
    expect(await planUndo(CLIENTS, home)).toEqual([]);
    if (edits) expect(await readdir(join(machine.home, ".continue"))).toEqual(["config.yaml"]);
  },
);

test.each(CLIENT_FILES)("$id: connect renews an older entry, and undo restores every byte", async (one) => {
  await put(one.path, one.text);
  const clientFile = await clientFileOf(one.id);
  await connectTo(clientFile);
  expect(await connectTo(clientFile, NEWER)).toBe(true);
  expect(await entryIn(clientFile)).toEqual(clientFile.client.entry(NEWER));
  await undo(clientFile.file, home);
  expect(await readFile(join(machine.home, one.path), "utf8")).toBe(one.text);
});

test.each(CLIENT_FILES.filter(({ edits }) => !edits))(
  "$id: undo keeps later changes of the file",
  async ({ id, path, text }) => {
    const file = await put(path, text);
    const clientFile = await clientFileOf(id);
    await connectTo(clientFile);
    const comment = file.endsWith(".toml") ? "# later\n" : "// later\n";
    await writeFile(file, comment + (await readFile(file, "utf8")));
    await undo(file, home);
    const now = await readFile(file, "utf8");
    expect(now.startsWith(comment)).toBe(true);
    expect(await entryIn(clientFile)).toBeUndefined();
    const format = await formatOf(file);
    expect(await format.parse({ path: file, text: now })).toEqual(await format.parse({ path: file, text }));
  },
);

test.each(CLIENTS.map(({ id }) => ({ id })))(
  "$id: undo removes a file and folders that connect created",
  async ({ id }) => {
    const place = clientOf(id).places(machine)[0];
    await mkdir(place?.folder ?? "", { recursive: true });
    const clientFile = await clientFileOf(id);
    await connectTo(clientFile);
    expect((await stat(clientFile.file)).mode & 0o777).toBe(0o600);
    expect(await entryIn(clientFile)).toEqual(clientFile.client.entry(START));
    await undo(clientFile.file, home);
    expect(await readdir(place?.folder ?? "")).toEqual([]);
  },
);

test("connect keeps the content of any file, and undo restores every byte", {
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

      const clientFile = await clientFileOf("cursor");
      const { found } = await gather([clientFile.client], machine);
      if (await connectTo(clientFile)) {
        const after = await readFile(file, "utf8");
        expect(after.startsWith("\uFEFF")).toBe(mark);
        if (text.includes("\r\n")) expect(after.replaceAll("\r\n", "")).not.toContain("\n");
        expect((await gather([clientFile.client], machine)).found).toEqual(found);
        expect(await entryIn(clientFile)).toEqual(clientFile.client.entry(START));
        expect((await stat(file)).mode & 0o777).toBe(mode);
        await connectTo(clientFile, NEWER);
      }
      await undo(file, home);
      expect((await readFile(file)).equals(bytes)).toBe(true);
      expect((await lstat(file)).isSymbolicLink()).toBe(link);
      expect((await stat(file)).mode & 0o777).toBe(mode);
    }),
    { numRuns: 80 },
  );
});

test("connect keeps the user's additions to our entry", async () => {
  const own = `"command": "metamcp", "args": ["--old"], "env": { "METAMCP_TOKEN": "${SECRET}" }, "disabled": false`;
  const file = await put(".cursor/mcp.json", `{ "mcpServers": { "metamcp": { ${own} } } }`);
  const clientFile = await clientFileOf("cursor");
  expect(JSON.stringify(await planConnect(clientFile, START))).not.toContain(SECRET);
  await connectTo(clientFile);
  expect(await entryIn(clientFile)).toEqual({ ...START, env: { METAMCP_TOKEN: SECRET }, disabled: false });
  await undo(file, home);
  expect(await readFile(file, "utf8")).toContain("--old");
});

test.each([
  [
    "another server named metamcp",
    '{"mcpServers": {"metamcp": {"url": "https://other.example"}}}',
    /another server/,
  ],
  ["incomplete JSON", '{\n  "mcpServers": {', /mcp\.json:2:\d+: /],
  ["a list of servers", '{"mcpServers": []}', /"mcpServers" is not an object/],
  ["a duplicate key", '{"mcpServers": {}, "mcpServers": {"a": 1}}', /cannot be edited safely/],
  ["invalid UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), /not UTF-8/],
])("a file with %s is refused and not changed", async (_what, content, message) => {
  const file = await put(".cursor/mcp.json", "");
  await writeFile(file, content);
  const clientFile = await clientFileOf("cursor");
  expect(await planConnect(clientFile, START)).toMatchObject({
    state: "fault",
    message: expect.stringMatching(message),
  });
  await expect(connectTo(clientFile)).rejects.toThrow(message);
  expect(await readFile(file)).toEqual(Buffer.from(content));
});

test("an entry for MetaMCP under another name counts as connected", async () => {
  await put(
    ".cursor/mcp.json",
    '{"mcpServers": {"all": {"command": "npx", "args": ["-y", "metamcp@1.0.0"]}}}',
  );
  expect(await planConnect(await clientFileOf("cursor"), START)).toEqual({ state: "connected" });
});

test("a broken link is not replaced", async () => {
  await mkdir(join(machine.home, ".cursor"));
  await symlink(join(machine.home, "nowhere"), join(machine.home, ".cursor/mcp.json"));
  expect(await planConnect(await clientFileOf("cursor"), START)).toMatchObject({ state: "fault" });
});

test("a pipe is neither read nor replaced", async () => {
  const file = join(machine.home, ".cursor/mcp.json");
  await mkdir(dirname(file));
  execFileSync("mkfifo", [file]);
  expect(await planConnect(await clientFileOf("cursor"), START)).toMatchObject({
    state: "fault",
    message: expect.stringMatching(/not a regular file/),
  });
  expect((await gather([clientOf("cursor")], machine)).faults).toEqual([
    expect.stringMatching(/not a regular file/),
  ]);
  expect((await lstat(file)).isFIFO()).toBe(true);
});

test("a file that is nested too deeply is reported as a fault", async () => {
  const text = `{"a": ${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  await put(".cursor/mcp.json", text);
  expect(await planConnect(await clientFileOf("cursor"), START)).toMatchObject({
    state: "fault",
    message: expect.stringMatching(/mcp\.json: .*too deeply/),
  });
});

test.each([
  ["incomplete JSON", '{"edits": [{"client": "cur'],
  ["a list", "[]"],
  ["an incomplete edit", '{"edits": [{"client": "cursor"}]}'],
])("a damaged record of edits is reported and kept: %s", async (_what, text) => {
  const file = await put(".cursor/mcp.json", "{}");
  await mkdir(home);
  await writeFile(join(home, "clients.json"), text);
  await expect(connectTo(await clientFileOf("cursor"))).rejects.toThrow(/clients\.json: .*backups/);
  await expect(planUndo(CLIENTS, home)).rejects.toThrow(/clients\.json: /);
  expect(await readFile(file, "utf8")).toBe("{}");
  expect(await readFile(join(home, "clients.json"), "utf8")).toBe(text);
});

test("undo without the backup removes our entry", async () => {
  const file = await put(".cursor/mcp.json", '{\n  "mcpServers": {\n    "a": {}\n  }\n}\n');
  await connectTo(await clientFileOf("cursor"));
  await rm(join(home, "backups"), { recursive: true });
  await undo(file, home);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ mcpServers: { a: {} } });
});

test("records and backups are readable only by the owner", async () => {
  await put(".cursor/mcp.json", "{}");
  await connectTo(await clientFileOf("cursor"));
  const backups = await readdir(join(home, "backups"));
  for (const path of ["clients.json", ...backups.map((name) => join("backups", name))]) {
    expect((await stat(join(home, path))).mode & 0o077).toBe(0);
  }
});

test("an invalid file does not affect the others and is reported with line and column", async () => {
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
