/** `metamcp init` and `metamcp import` for people and scripts. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, watch, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { CLIENT_FILES, SECRET } from "../../support/client-files.ts";
import { type CommandResult, metamcp } from "../../support/command.ts";
import { noTerminal, PseudoTerminal } from "../../support/pseudo-terminal.ts";
import { RawClient } from "../../support/raw-client.ts";
import { ROOT, type Temp, temp, withoutConfigVariable } from "../../support/temp.ts";

/** One kill during the write of each file by default; METAMCP_KILLS sets another number. */
const KILLS = Number(process.env["METAMCP_KILLS"] ?? 5);

/** A home folder with the config file of each client. */
function homeWithClients(): Temp & {
  readonly user: string;
  file(path: string): string;
  run(...args: string[]): Promise<CommandResult>;
} {
  const folder = withoutConfigVariable(temp());
  const user = join(folder.folder, "user");
  const elsewhere =
    /^(?:XDG_CONFIG_HOME|CLAUDE_CONFIG_DIR|CODEX_HOME|COPILOT_HOME|GEMINI_CLI_HOME|CLINE_|CONTINUE_)/;
  const env = Object.fromEntries(Object.entries(folder.env).filter(([name]) => !elsewhere.test(name)));
  const all = { ...folder, env: { ...env, HOME: user } };
  const file = (path: string): string => join(user, path);
  for (const { path, text } of CLIENT_FILES) {
    mkdirSync(dirname(file(path)), { recursive: true });
    writeFileSync(file(path), text);
  }
  return { ...all, user, file, run: async (...args) => await metamcp(all, args) };
}

const expectUnchanged = ({ file }: ReturnType<typeof homeWithClients>): void => {
  for (const { path, text } of CLIENT_FILES) expect(readFileSync(file(path), "utf8")).toBe(text);
};

test("import, init and undo leave the file of every client unchanged byte for byte", async () => {
  const me = homeWithClients();
  const taken = await me.run("import", "--yes");
  expect(taken).toMatchObject({ code: 0, err: "" });
  expect(taken.out).not.toContain(SECRET);
  expect(taken.out).toContain("Claude Code, /code/app");
  const config = JSON.parse(readFileSync(join(me.home, "mcp.json"), "utf8")) as { mcpServers: object };
  expect(config.mcpServers).toEqual(Object.assign({}, ...CLIENT_FILES.map(({ servers }) => servers)));
  expect(statSync(join(me.home, "mcp.json")).mode & 0o077).toBe(0);
  expectUnchanged(me);

  const done = await me.run("init", "--yes", "--json");
  expect(done).toMatchObject({ code: 0, err: "" });
  expect(done.out).not.toContain(SECRET);
  const steps = JSON.parse(done.out) as {
    client: string;
    result: string;
    taken: string[];
    remaining: string[];
  }[];
  expect(steps.map(({ client }) => client)).toEqual(CLIENT_FILES.map(({ id }) => id));
  expect(new Set(steps.map(({ result }) => result))).toEqual(new Set(["connected"]));
  expect(steps.find(({ client }) => client === "cursor")?.taken.length).toBeGreaterThan(0);

  const again = JSON.parse((await me.run("init", "--yes", "--json")).out) as typeof steps;
  expect(new Set(again.map(({ result }) => result))).toEqual(new Set(["already connected"]));
  const nothingNew = await me.run("import", "--yes", "--json");
  expect(JSON.parse(nothingNew.out)).toMatchObject({ written: [], servers: [] });

  expect(await me.run("init", "--undo", "--yes")).toMatchObject({ code: 0 });
  expectUnchanged(me);
  expect((await me.run("init", "--undo")).out).toContain("nothing to undo");
});

test("the entry starts MetaMCP in any folder with the given config", async () => {
  const me = homeWithClients();
  const config = me.write("servers.json", '{"mcpServers": {}}');
  await me.run("init", "cursor", "--yes", "--config", "servers.json");
  const file = JSON.parse(readFileSync(me.file(".cursor/mcp.json"), "utf8").replaceAll(/,(?=\s*})/g, "")) as {
    mcpServers: { metamcp: { command: string; args: string[]; env: Record<string, string> } };
  };
  const { command, args, env } = file.mcpServers.metamcp;
  expect(args).toEqual([join(ROOT, "dist/metamcp.js"), "--config", config]);
  const client = new RawClient(command, { args, cwd: "/", env: { PATH: "", HOME: me.user, ...env } });
  const { result } = await client.initialize();
  expect(result?.["serverInfo"]).toMatchObject({ name: "metamcp" });
});

test("without a terminal and --yes init and import show the change and write nothing", async () => {
  const me = homeWithClients();
  const shown = await me.run("init");
  expect(shown.code).toBe(2);
  expect(shown.out).toMatch(/^\+ +"metamcp": \{$/m);
  expect(shown.out).toContain("metamcp init --yes");
  expect(shown.out).not.toContain(SECRET);
  expect((await me.run("import")).code).toBe(2);
  expect((await me.run("import", "--dry-run")).code).toBe(0);
  expectUnchanged(me);
  expect(() => readFileSync(join(me.home, "mcp.json"))).toThrow(/ENOENT/);
});

test("an unknown client and a broken client file are reported, and the other clients are processed", async () => {
  const me = homeWithClients();
  const unknown = await me.run("init", "curser");
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean "cursor"?') });

  writeFileSync(me.file(".cursor/mcp.json"), '{\n  "mcpServers": {');
  const some = await me.run("init", "cursor", "gemini", "--yes");
  expect(some.code).toBe(1);
  expect(some.out).toMatch(/cursor: .*mcp\.json:2:\d+: /);
  expect(some.out).toMatch(/gemini: connected/);
  const others = await me.run("import", "cursor", "gemini", "--yes");
  expect(others.code).toBe(1);
  expect(others.out).toMatch(/mcp\.json:2:\d+: /);
  expect(others.out).toMatch(/3 servers written/);
});

test("control characters in a server name are escaped, and one server is counted in the singular", async () => {
  const me = homeWithClients();
  const mcpServers = { "odd\nAll is well": { command: "node" }, plain: { command: "node", args: ["x.js"] } };
  writeFileSync(me.file(".cursor/mcp.json"), JSON.stringify({ mcpServers }));
  const { code, out } = await me.run("import", "cursor", "--yes");
  expect(code).toBe(0);
  expect(out).toMatch(/^odd\\u\{a\}All is well \(Cursor\): skipped/m);
  expect(out).toContain("1 server written");
});

test("import in a repository does not change its file unless --here is given", async () => {
  const me = homeWithClients();
  const text = '{ "mcpServers": { "theirs": { "command": "node" } } }';
  me.write(".mcp.json", text);
  expect(await me.run("import", "claude-desktop", "--yes")).toMatchObject({ code: 0 });
  expect(readFileSync(me.config, "utf8")).toBe(text);
  expect(readFileSync(join(me.home, "mcp.json"), "utf8")).toContain(SECRET);

  const here = await me.run("import", "claude-desktop", "--here", "--yes");
  expect(here.out + here.err).toContain("These entries may contain secrets");
  expect(readFileSync(me.config, "utf8")).toContain(SECRET);
});

test("import does not change a broken config of MetaMCP", async () => {
  const me = homeWithClients();
  for (const text of ['{"mcpServers": []}', '{\n  "mcpServers": {']) {
    me.write(".mcp.json", text);
    expect(await me.run("import", "--here", "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining(".mcp.json"),
    });
    expect(readFileSync(me.config, "utf8")).toBe(text);
  }
});

test("after a kill at any moment each file is the old or the new one, and undo works", async () => {
  const me = homeWithClients();
  // Large files, so that a write can be interrupted.
  const some = ["claude-desktop", "claude-code", "cursor", "zed", "codex"];
  const before = new Map(
    CLIENT_FILES.filter(({ id }) => some.includes(id)).map(({ path, text }) => [
      path,
      `${text}\n${" ".repeat(200_000)}\n`,
    ]),
  );
  for (const [path, text] of before) writeFileSync(me.file(path), text);
  await me.run("init", ...some, "--yes");
  const after = new Map([...before.keys()].map((path) => [path, readFileSync(me.file(path), "utf8")]));
  await me.run("init", "--undo", "--yes");

  const paths = [...before.keys()];
  let killed = 0;
  for (let round = 0; round < KILLS || (killed === 0 && round < 40); round++) {
    const file = me.file(paths[round % paths.length] as string);
    const folder = watch(dirname(file));
    const child = spawn(process.execPath, [join(ROOT, "dist/metamcp.js"), "init", ...some, "--yes"], {
      env: me.env,
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    // Kills as soon as this file changes: while it or the next one is written.
    const touched = new Promise<void>((resolve) => {
      folder.on("change", (_, name) => name === basename(file) && resolve());
    });
    await Promise.race([touched, ended]);
    folder.close();
    if (child.exitCode === null && child.kill("SIGKILL")) killed++;
    await ended;
    for (const [path, old] of before) {
      const now = readFileSync(me.file(path), "utf8");
      expect(now === old || now === after.get(path), path).toBe(true);
    }
    expect(await me.run("init", "--undo", "--yes")).toMatchObject({ code: 0 });
    for (const [path, old] of before) expect(readFileSync(me.file(path), "utf8") === old, path).toBe(true);
  }
  expect(killed).toBeGreaterThan(0);
  for (const name of readdirSync(me.home)) expect(statSync(join(me.home, name)).mode & 0o077).toBe(0);
});

test.skipIf(noTerminal())("Ctrl-C at a question ends init without a further question", async () => {
  const me = homeWithClients();
  const command = [process.execPath, join(ROOT, "dist/metamcp.js"), "init"];
  const terminal = new PseudoTerminal(command, me.user, me.env);
  await terminal.sees("[y/N] ");
  terminal.type("\x03");
  expect(await terminal.exited).not.toBe(0);
  expect(terminal.screen.match(/\[y\/N\]/g)).toHaveLength(1);
  expectUnchanged(me);
});

test("import escapes terminal control characters", async () => {
  const me = homeWithClients();
  const servers = {
    "a\u001b[2J": { command: "x" },
    b: { command: "x", args: ["\u001b]0;t\u0007", "\u202e"] },
  };
  writeFileSync(me.file(".cursor/mcp.json"), JSON.stringify({ mcpServers: servers }));
  const { out } = await me.run("import", "cursor", "--dry-run");
  expect(out).toContain("\\u{1b}");
  for (const sign of ["\u001b", "\u0007", "\u202e"]) expect(out).not.toContain(sign);
});

test("init refuses a client file that is also MetaMCP's config", async () => {
  const me = homeWithClients();
  const ended = await me.run("init", "cursor", "--yes", "--config", me.file(".cursor/mcp.json"));
  expect(ended).toMatchObject({ code: 1, out: expect.stringMatching(/also MetaMCP's config.*--config/) });
  expectUnchanged(me);
});

const CURSOR = ".cursor/mcp.json";
const listedBy = (me: ReturnType<typeof homeWithClients>): string[] =>
  Object.keys((JSON.parse(readFileSync(me.file(CURSOR), "utf8")) as { mcpServers: object }).mcpServers);

test("init says why it leaves a server in the client, and does not mention disabled servers", async () => {
  const me = homeWithClients();
  const withMissingVariable = { command: "node", args: ["needy.js"], env: { KEY: `\${NOT_SET_ANYWHERE}` } };
  const off = { command: "node", args: ["off.js"], disabled: true };
  writeFileSync(me.file(CURSOR), JSON.stringify({ mcpServers: { needy: withMissingVariable, off } }));
  me.write("ours.json", JSON.stringify({ mcpServers: { theirs: withMissingVariable, off } }));
  const { out } = await me.run("init", "cursor", "--yes", "--config", "ours.json");
  expect(out).toMatch(
    /still starts needy itself, because MetaMCP cannot: .*NOT_SET_ANYWHERE.*metamcp init cursor/,
  );
  expect(out).not.toMatch(/metamcp import|these itself: /);
  me.write("ours.json", JSON.stringify({ mcpServers: {} }));
  writeFileSync(me.file(CURSOR), JSON.stringify({ mcpServers: { off } }));
  expect((await me.run("init", "cursor", "--yes", "--config", "ours.json")).out).toContain(
    "its list has only metamcp now",
  );
});

test("init removes the servers that MetaMCP runs from the client's list, and undo restores them", async () => {
  const me = homeWithClients();
  const text = `{\n  "mcpServers": {\n    "one": { "command": "node", "args": ["one.js"], "env": { "KEY": "hush-hush" } },\n    "two": {"command": "node"}\n  },\n  "other": 1\n}\n`;
  writeFileSync(me.file(CURSOR), text);
  writeFileSync(join(me.folder, "x"), "");
  me.write(
    "ours.json",
    JSON.stringify({
      mcpServers: { mine: { command: "node", args: ["one.js"], env: { KEY: "hush-hush" } } },
    }),
  );

  const shown = await me.run("init", "cursor", "--yes", "--config", "ours.json");
  expect(shown.out).toMatch(/^- +"one": \{/m);
  expect(shown.out).not.toContain("hush-hush");
  expect(shown.out).toContain("removed from its own list: one");
  expect(shown.out).toMatch(/still starts these itself: two\. .*metamcp import cursor/);
  expect(shown.out).not.toContain("its list has only");
  expect(listedBy(me)).toEqual(["two", "metamcp"]);
  await me.run("init", "cursor", "--undo", "--yes");
  expect(readFileSync(me.file(CURSOR), "utf8")).toBe(text);

  me.write(
    "ours.json",
    JSON.stringify({
      mcpServers: {
        mine: { command: "node", args: ["one.js"], env: { KEY: "hush-hush" } },
        b: { command: "node" },
      },
    }),
  );
  expect((await me.run("init", "cursor", "--yes", "--config", "ours.json")).out).toContain(
    "its list has only metamcp now",
  );
  expect(listedBy(me)).toEqual(["metamcp"]);
  // The client itself changes its file later.
  const later = readFileSync(me.file(CURSOR), "utf8").replace('"other": 1', '"other": 2');
  writeFileSync(me.file(CURSOR), later);
  await me.run("init", "cursor", "--undo", "--yes");
  const back = JSON.parse(readFileSync(me.file(CURSOR), "utf8")) as unknown;
  expect(back).toEqual({ ...(JSON.parse(text) as object), other: 2 });
});

test("import and init keep the tool rules of each client, and init leaves what it cannot keep", async () => {
  const me = homeWithClients();
  const gl = { command: "npx", args: ["-y", "gl"] };
  writeFileSync(me.file(CURSOR), JSON.stringify({ mcpServers: { gl } }));
  writeFileSync(
    me.file(".codex/config.toml"),
    '[mcp_servers.gl]\ncommand = "npx"\nargs = ["-y", "gl"]\nenabled_tools = ["list"]\n',
  );
  writeFileSync(
    me.file(".gemini/settings.json"),
    JSON.stringify({ mcpServers: { gl: { ...gl, excludeTools: ["delete"] } } }),
  );
  const imported = await me.run("import", "cursor", "codex", "gemini", "--yes");
  expect(imported.out).toContain('gl-codex: its tool rules differ from those of "gl"');
  const { mcpServers } = JSON.parse(readFileSync(join(me.home, "mcp.json"), "utf8")) as {
    mcpServers: object;
  };
  expect(mcpServers).toEqual({
    gl,
    "gl-codex": { ...gl, tools: { allow: ["list"] } },
    "gl-gemini": { ...gl, tools: { deny: ["delete"] } },
  });
  const { out } = await me.run("init", "cursor", "codex", "gemini", "--yes");
  expect(out.match(/removed from its own list: gl/g)).toHaveLength(1);
  expect(out.match(/still starts gl itself: its tool rules would not hold/g)).toHaveLength(2);
  expect(listedBy(me)).toEqual(["metamcp"]);
});

test("init leaves a server whose settings MetaMCP does not read, and knows all files of a client", async () => {
  const me = homeWithClients();
  const pg = { command: "npx", args: ["pg"], envFile: ".env" };
  writeFileSync(me.file(".config/Code/User/mcp.json"), JSON.stringify({ servers: { pg } }));
  writeFileSync(me.file(".continue/config.yaml"), "mcpServers:\n  - name: notes\n    command: notes\n");
  writeFileSync(
    me.file(".config/zed/settings.json"),
    JSON.stringify({ context_servers: { ext: { settings: {} } } }),
  );
  const clients = ["vscode", "continue", "zed"];
  expect((await me.run("import", ...clients, "--yes")).out).toContain("envFile is not read");
  const { out } = await me.run("init", ...clients, "--yes");
  expect(out).toMatch(/still starts pg itself: envFile is not read/);
  expect(out).toMatch(/still starts notes itself: MetaMCP runs it too; remove it from .*config\.yaml/);
  expect(out).toMatch(/still starts ext itself: it comes with an extension/);
  expect(out).not.toMatch(/its list has only|removed from|metamcp import/);
});

test("init changes nothing in a client that would not start MetaMCP", async () => {
  const me = homeWithClients();
  const mcpServers = { notes: { command: "notes" } };
  const files = {
    ".gemini/settings.json": { mcpServers, mcp: { allowed: ["notes"] } },
    [CURSOR]: { mcpServers: { ...mcpServers, metamcp: { command: "metamcp", disabled: true } } },
  };
  for (const [path, content] of Object.entries(files)) writeFileSync(me.file(path), JSON.stringify(content));
  const clients = ["gemini", "cursor"];
  await me.run("import", ...clients, "--yes");
  const { code, out } = await me.run("init", ...clients, "--yes");
  expect(code).toBe(1);
  for (const client of clients)
    expect(out).toMatch(new RegExp(`${client}: .*: it turns off the server "metamcp"`));
  for (const [path, content] of Object.entries(files))
    expect(JSON.parse(readFileSync(me.file(path), "utf8"))).toEqual(content);
});

test("init through npx writes an entry only if the registry has this MetaMCP", async () => {
  const me = homeWithClients();
  const cache = join(me.folder, ".npm/_npx/abc/node_modules");
  cpSync(join(ROOT, "dist"), join(cache, "metamcp/dist"), { recursive: true });
  writeFileSync(join(cache, "metamcp/package.json"), '{ "type": "module" }');
  const record = { packages: { "node_modules/metamcp": { integrity: "sha512-ours" } } };
  writeFileSync(join(cache, ".package-lock.json"), JSON.stringify(record));
  const bin = join(me.folder, "bin");
  mkdirSync(bin);
  const initWith = async (npm: string): Promise<string> => {
    writeFileSync(join(bin, "npm"), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
    const env = { ...me.env, PATH: `${bin}:${process.env["PATH"]}` };
    const options = { cwd: me.path("."), env };
    const args = [join(cache, "metamcp/dist/metamcp.js"), "init", "cursor", "--yes"];
    return await promisify(execFile)(process.execPath, args, options).then(
      ({ stdout }) => stdout,
      ({ code, stderr }: { code: number; stderr: string }) => `${code} ${stderr}`,
    );
  };
  expect(await initWith("exit 1")).toMatch(/^1 metamcp: .*npm install --global/);
  expect(await initWith("echo sha512-theirs")).toMatch(/^1 .*No client was changed/);
  expectUnchanged(me);
  expect(await initWith("echo sha512-ours")).toMatch(/cursor: connected/);
  expect(readFileSync(me.file(CURSOR), "utf8")).toMatch(/"npx"[\s\S]*metamcp@\d/);
});

test("a server that is disabled in MetaMCP or has other credentials stays in the client", async () => {
  const me = homeWithClients();
  const one = { command: "node", args: ["one.js"], env: { KEY: "hush-hush" } };
  writeFileSync(me.file(CURSOR), JSON.stringify({ mcpServers: { one, two: { command: "node" } } }));
  const other = { ...one, env: { KEY: "another" } };
  me.write(
    "ours.json",
    JSON.stringify({ mcpServers: { one: other, two: { command: "node", disabled: true } } }),
  );
  await me.run("init", "cursor", "--yes", "--config", "ours.json");
  expect(listedBy(me)).toEqual(["one", "two", "metamcp"]);
});

test("init gives clients the user's config unless --here is given", async () => {
  const me = homeWithClients();
  me.writeConfig({});
  const named = async (...flags: string[]): Promise<unknown> => {
    writeFileSync(me.file(CURSOR), "{}");
    await me.run("init", "cursor", "--yes", ...flags);
    const { mcpServers } = JSON.parse(readFileSync(me.file(CURSOR), "utf8")) as {
      mcpServers: { metamcp: { args: string[] } };
    };
    return mcpServers.metamcp.args.at(-1);
  };
  expect(await named()).toBe(join(me.home, "mcp.json"));
  expect(await named("--here")).toBe(me.config);
});
