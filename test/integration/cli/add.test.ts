/**
 * `metamcp add` and `remove` from a shell: on real files, without network access, and killed during a write.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type CommandResult, metamcp } from "../../support/command.ts";
import { WHY_NOT } from "../../support/confined.ts";
import { fixture, ROOT, type Temp, temp, withoutConfigVariable } from "../../support/temp.ts";

const json = ({ out }: CommandResult): Record<string, unknown> => JSON.parse(out) as Record<string, unknown>;
const serversIn = (path: string): Record<string, Record<string, unknown>> =>
  (JSON.parse(readFileSync(path, "utf8")) as { mcpServers: Record<string, Record<string, unknown>> })
    .mcpServers;

/** Elsewhere `add` says why it does not. */
const CONFINES = WHY_NOT === undefined;
const SANDBOX = CONFINES ? { sandbox: true } : {};

test("add needs only a gallery name, writes missing values as variables and names them", async () => {
  const folder = withoutConfigVariable(temp());
  const { code, out, err } = await metamcp(folder, ["add", "memory", "gitlab", "filesystem"]);
  const path = join(folder.home, "mcp.json");
  expect(code).toBe(0);
  expect(out).toContain(path);
  expect(err).toMatch(/gitlab needs GITLAB_PERSONAL_ACCESS_TOKEN \(a secret\): Personal/);
  expect(err).toContain("filesystem needs FILESYSTEM_FOLDER: The folder");
  expect(err).not.toContain("memory needs");
  expect(serversIn(path)).toEqual({
    memory: {
      command: "npx",
      args: ["-y", expect.stringMatching(/^@modelcontextprotocol\/server-memory@\d[\w.-]+$/)],
      ...(CONFINES && { sandbox: { network: "none" } }),
    },
    gitlab: {
      command: "npx",
      args: ["-y", expect.stringMatching(/^@zereight\/mcp-gitlab@\d/)],
      env: { GITLAB_PERSONAL_ACCESS_TOKEN: `\${GITLAB_PERSONAL_ACCESS_TOKEN}` },
      ...SANDBOX,
    },
    filesystem: {
      command: "npx",
      args: ["-y", expect.any(String), `\${FILESYSTEM_FOLDER}`],
      ...(CONFINES && { sandbox: { write: [`\${FILESYSTEM_FOLDER}`], network: "none" } }),
    },
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a server that holds a session is added as keep-alive, by name and by command, unless its entry says otherwise", async () => {
  const folder = withoutConfigVariable(temp());
  const path = join(folder.home, "mcp.json");
  const { out } = await metamcp(folder, ["add", "playwright", "memory"]);
  expect(out).toMatch(/\+ playwright .*\n.*\n {2}It holds a session.*"keep-alive"/);
  expect(out.match(/keep-alive/g)).toHaveLength(1);
  await metamcp(folder, ["add", "mine", "--", "npx", "-y", "@playwright/mcp", "--headless"]);
  await metamcp(folder, ["add", "other", "--", "npx", "-y", "playwright-report"]);
  const lifecycles = Object.entries(serversIn(path)).map(([name, entry]) => [name, entry["lifecycle"]]);
  expect(Object.fromEntries(lifecycles)).toEqual({
    playwright: "keep-alive",
    memory: undefined,
    mine: "keep-alive",
    other: undefined,
  });
});

test("add changes the repository's config only with --here, needs no further consent then, and keeps comments", async () => {
  const folder = withoutConfigVariable(temp());
  folder.write(
    ".mcp.json",
    '{\n  "mcpServers": {\n    // mine\n    "a": { "command": "a" }, // too\n  },\n}\n',
  );
  const before = readFileSync(folder.config, "utf8");
  const own = await metamcp(folder, ["add", "time", "--env", "KEY=hush-hush"]);
  expect(own).toMatchObject({ code: 0, err: expect.stringContaining("metamcp add --here") });
  expect(readFileSync(folder.config, "utf8")).toBe(before);
  expect(serversIn(join(folder.home, "mcp.json"))["time"]).toMatchObject({ env: { KEY: "hush-hush" } });
  await metamcp(folder, ["allow", "--yes"]);
  await metamcp(folder, ["add", "time", "--here"]);
  expect((await metamcp(folder, ["list"])).out).not.toMatch(/metamcp allow/);
  expect((await metamcp(folder, ["add", "time", "--here", "--config", "x.json"])).code).toBe(2);
  expect(readFileSync(folder.config, "utf8")).toMatch(
    /\/\/ mine\n {4}"a": \{ "command": "a" \}, \/\/ too\n {4}"time": \{[\s\S]*"uvx"/,
  );
  const named = await metamcp(folder, ["add", "time", "--config", "other.json", "--json"]);
  expect(json(named)).toMatchObject({
    config: folder.path("other.json"),
    added: [{ name: "time", missing: [] }],
    present: [],
  });
  expect(Object.keys(serversIn(folder.path("other.json")))).toEqual(["time"]);
});

test("add accepts values as --env and does not print secrets", async () => {
  const folder = temp();
  const { code, out, err } = await metamcp(folder, [
    "add",
    "filesystem",
    "gitlab",
    "redis",
    "--config",
    "c.json",
    "--env",
    "FILESYSTEM_FOLDER=/a,b",
    "--env",
    "GITLAB_API_URL=https://x",
    `--env=GITLAB_PERSONAL_ACCESS_TOKEN=\${MINE}`,
    "--env",
    "REDIS_URL=redis://u:hunter2@h",
  ]);
  expect(code).toBe(0);
  expect(serversIn(folder.path("c.json"))).toMatchObject({
    filesystem: { args: ["-y", expect.any(String), "/a,b"] },
    gitlab: { env: { GITLAB_API_URL: "https://x", GITLAB_PERSONAL_ACCESS_TOKEN: `\${MINE}` } },
    redis: { args: [expect.any(String), "--url", "redis://u:hunter2@h"] },
  });
  expect(err).toContain("gitlab needs MINE");
  expect(err).not.toContain("FILESYSTEM_FOLDER");
  expect(`${out}${err}`).not.toContain("hunter2");
});

test("add keeps existing servers and fails only if the request would change one", async () => {
  const folder = temp();
  await metamcp(folder, ["add", "memory", "--config", "c.json"]);
  const before = readFileSync(folder.path("c.json"), "utf8");
  const again = await metamcp(folder, ["add", "memory", "--config", "c.json"]);
  expect([again.code, again.out]).toEqual([0, expect.stringContaining("memory  already exists")]);
  const other = await metamcp(folder, [
    "add",
    "memory",
    "--env",
    "MEMORY_FILE_PATH=/m",
    "--config",
    "c.json",
  ]);
  expect([other.code, other.out]).toEqual([1, expect.stringContaining("metamcp remove memory")]);
  const own = await metamcp(folder, ["add", "memory", "--config", "c.json", "--", "other"]);
  expect(own.code).toBe(1);
  expect(readFileSync(folder.path("c.json"), "utf8")).toBe(before);
  expect(readdirSync(folder.home)).not.toContain("backups");
});

test("add accepts a command or a URL with headers for a server that is not in the gallery", async () => {
  const folder = temp();
  const local = await metamcp(folder, [
    "add",
    "mine",
    "--config",
    "c.json",
    "--env",
    "KEY=1",
    "--",
    ...Object.values(fixture()).flat(),
    "--late",
    "--json",
  ]);
  expect(local.code).toBe(0);
  const remote = await metamcp(folder, [
    "add",
    "far",
    "--config",
    "c.json",
    "--url",
    "https://example.com/mcp",
    "--header",
    `Authorization: Bearer \${TOKEN}`,
  ]);
  expect([remote.code, remote.err]).toEqual([0, expect.stringContaining("far needs TOKEN")]);
  expect(serversIn(folder.path("c.json"))).toEqual({
    mine: { ...fixture("--late", "--json"), env: { KEY: "1" }, ...SANDBOX },
    far: { type: "http", url: "https://example.com/mcp", headers: { Authorization: `Bearer \${TOKEN}` } },
  });
});

test("add and remove report invalid input and write nothing", async () => {
  const folder = temp();
  const invalid: [args: string[], code: number, says: RegExp][] = [
    [["add"], 2, /Usage: metamcp add/],
    [["add", "memory", "postgress"], 1, /no "postgress" in the gallery\. Did you mean "postgres"/],
    [
      ["add", "qqqqqq"],
      1,
      /in the gallery\.\nTo list them all: metamcp add --list\nTo add a server that is not in it: /,
    ],
    [["add", "databse"], 1, /metamcp add --category databases/],
    [["add", "memory", "--env", "nonsense"], 2, /NAME=value/],
    [["add", "memory", "git", "--env", "OTHER=1"], 2, /no variable OTHER/],
    [["add", "linear", "--env", "OTHER=1"], 2, /no variable OTHER/],
    [["add", "metamcp", "--", "x"], 2, /reserved/],
    [["add", "../x", "--", "x"], 2, /cannot be the name/],
    [["add", "__proto__", "--", "x"], 2, /cannot be the name/],
    [["add", "x", "--"], 2, /one of these: a command behind --, --url, or --openapi/],
    [["add", "x", "--url", "https://x", "--", "y"], 2, /one of these: a command/],
    [["add", "x", "--url", "ftp://x"], 2, /not a web address/],
    [["add", "x", "y", "--", "z"], 2, /Give one name/],
    [["add", "x", "--header", "A: b"], 2, /--header needs --url/],
    [["add", "x", "--", "metamcp"], 2, /start MetaMCP itself/],
    [["add", "--category", "database"], 2, /Did you mean "databases"/],
    [["add", "--list", "memory"], 2, /take no names/],
    [["remove"], 2, /Usage: metamcp remove/],
    [["remove", "x"], 1, /There are no servers in/],
  ];
  const all = await Promise.all(
    invalid.map(async ([args, code, says]) => ({ args, code, says, ended: await metamcp(folder, args) })),
  );
  for (const { args, code, says, ended } of all) {
    expect([args, ended.code, ended.err]).toEqual([args, code, expect.stringMatching(says)]);
    expect(ended.out).toBe("");
  }
  expect(readdirSync(folder.path("."))).toEqual([]);
  folder.write(".mcp.json", "{ broken");
  expect(await metamcp(folder, ["add", "memory"])).toMatchObject({
    code: 1,
    err: expect.stringContaining(".mcp.json:1:"),
  });
  expect(readFileSync(folder.config, "utf8")).toBe("{ broken");
});

test("add --list and --category show the gallery", async () => {
  const folder = temp();
  const list = await metamcp(folder, ["add", "--list"]);
  expect(list.out).toMatch(/^NAME +CATEGORY +WHAT IT IS FOR\n[\s\S]*postgres +databases +Query/);
  const { servers } = json(await metamcp(folder, ["add", "--category", "databases", "--json"])) as {
    servers: { name: string; category: string; variables: unknown[] }[];
  };
  expect(new Set(servers.map(({ category }) => category))).toEqual(new Set(["databases"]));
  expect(servers.find(({ name }) => name === "postgres")).toMatchObject({
    verified: true,
    variables: [{ name: "POSTGRES_URL", required: true, secret: true }],
  });
});

test("remove deletes the named servers, keeps comments, and lists the existing names for an unknown one", async () => {
  const folder = temp();
  folder.write(
    ".mcp.json",
    '{\n  // all of them\n  "mcpServers": {\n    "a": { "command": "a" }, // one\n    "memory": { "command": "b" }\n  }\n}\n',
  );
  const misspelled = await metamcp(folder, ["remove", "memry", "a"]);
  expect([misspelled.code, misspelled.err]).toEqual([1, expect.stringContaining("Did you mean memory?")]);
  expect(Object.keys(JSON.parse((await metamcp(folder, ["list", "--json"])).out) as object)).toContain(
    "servers",
  );

  const done = await metamcp(folder, ["remove", "memory", "--json"]);
  expect(json(done)).toMatchObject({
    removed: ["memory"],
    absent: [],
    copy: expect.stringContaining("backups"),
  });
  expect(readFileSync(folder.config, "utf8")).toMatch(
    /^\{\n {2}\/\/ all of them\n {2}"mcpServers": \{\n {4}"a": \{ "command": "a" \} \/\/ one\n {2}\}\n\}\n$/,
  );
  expect(await metamcp(folder, ["remove", "memory"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("It has: a."),
  });
});

/** Kills the command after the given number of changes in the folder. */
async function killedAt(folder: Temp, args: readonly string[], place: string, count: number): Promise<void> {
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const watcher = watch(place);
  onTestFinished(() => watcher.close());
  let seen = 0;
  const happened = new Promise<void>((resolve) => {
    watcher.on("change", () => {
      seen += 1;
      if (seen === count) resolve();
    });
  });
  const child = spawn(process.execPath, [join(ROOT, "dist/metamcp.js"), ...args], {
    cwd: folder.path("."),
    env: folder.env,
    stdio: "ignore",
  });
  const ended = once(child, "close");
  await Promise.race([happened, ended]);
  child.kill("SIGKILL");
  await ended;
  watcher.close();
}

test("a killed add or remove leaves complete private files and no lock", async () => {
  const folder = temp();
  // The file is large, so that a write takes several steps.
  const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`s${at}`, fixture()]));
  folder.writeConfig(many);
  const killPoints: [place: string, count: number][] = [
    [join(folder.home, "locks"), 1],
    [join(folder.home, "backups"), 1],
    ...[1, 2, 3, 4, 5].map((count): [string, number] => [folder.path("."), count]),
  ];
  for (const [place, count] of killPoints) {
    const there = "memory" in serversIn(folder.config);
    await killedAt(folder, [there ? "remove" : "add", "memory"], place, count);
    const { memory, ...rest } = serversIn(folder.config);
    expect(rest).toEqual(many);
    expect([undefined, "npx"]).toContain(memory?.["command"]);
  }
  for (const name of readdirSync(folder.home, { recursive: true, withFileTypes: true })) {
    const mode = statSync(join(name.parentPath, name.name)).mode & 0o077;
    expect([name.name, mode]).toEqual([name.name, 0]);
  }
  expect((await metamcp(folder, ["add", "memory"])).code).toBe(0);
  expect(Object.keys(serversIn(folder.config))).toHaveLength(3_001);
});

test("concurrent add commands all take effect", async () => {
  const folder = withoutConfigVariable(temp());
  const names = ["memory", "time", "fetch", "everything"];
  const ended = await Promise.all(names.map((name) => metamcp(folder, ["add", name])));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(Object.keys(serversIn(join(folder.home, "mcp.json"))).toSorted()).toEqual(names.toSorted());
});

test.skipIf(!CONFINES)(
  "a new server is confined with what its arguments name, unless the user says otherwise",
  async () => {
    const folder = temp();
    const path = folder.path("c.json");
    const notes = folder.path("notes");
    mkdirSync(notes);
    const add = async (name: string, ...more: readonly string[]) =>
      await metamcp(folder, ["add", name, "--config", "c.json", ...more]);
    const { out } = await add("notes", "--", "npx", "-y", "notes-server", notes);
    expect(out).toContain(`It is confined: writes a private folder, ${notes}; network: any.`);
    expect((await add("open", "--no-sandbox", "--", "npx", "-y", "x")).out).toContain(
      "may touch everything that you may",
    );
    expect((await add("box", "--", "docker", "run", "-i", "x")).out).toContain("it starts containers");
    const found = Object.entries(serversIn(path)).map(([name, { sandbox }]) => [name, sandbox]);
    expect(Object.fromEntries(found)).toEqual({ notes: { write: [notes] }, open: false, box: undefined });

    const without = { ...folder, env: { ...folder.env, PATH: "/nonexistent" } };
    const plain = await metamcp(without, ["add", "late", "--config", "c.json", "--", "npx", "-y", "x"]);
    expect(plain.out).toMatch(/It is not confined.*needs bubblewrap: run ".* bubblewrap"/);
    expect(serversIn(path)["late"]).not.toHaveProperty("sandbox");
    const listed = await metamcp({ ...without, config: path }, ["list", "--config", "c.json"]);
    expect(listed.out).toMatch(/notes +broken .*needs bubblewrap: run/);
    const checked = await metamcp(without, ["doctor", "notes", "--config", "c.json"]);
    expect(checked).toMatchObject({ code: 1, out: expect.stringMatching(/✗ notes .*needs bubblewrap: run/) });
  },
);
