/**
 * The first minutes of a new user: the packed package, installed into an empty folder, and the commands of
 * docs/getting-started.md.
 */
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { networkEnv } from "../support/install.ts";
import { RawClient } from "../support/raw-client.ts";
import { fixture, ROOT, type Temp, temp } from "../support/temp.ts";

const run = promisify(execFile);

interface Lock {
  readonly packages: Readonly<Record<string, { dev?: boolean; devOptional?: boolean; optional?: boolean }>>;
}

/** Without the npm variables that would make npm work in this repository. */
function environment(folder: Temp): Record<string, string> {
  const foreign = ([name]: [string, string]): boolean =>
    !/^npm_(?:config_local_prefix|package|lifecycle|command)/i.test(name);
  const env = Object.fromEntries(Object.entries(folder.env).filter(foreign));
  return { ...env, ...networkEnv(), npm_config_loglevel: "error" };
}

/** Packs the package as `npm pack` does, without building it again. */
async function pack(folder: Temp): Promise<string> {
  const { publishedManifest } = (await import(join(ROOT, "scripts/pack.mjs"))) as {
    publishedManifest: (text: string) => string;
  };
  const manifest = publishedManifest(readFileSync(join(ROOT, "package.json"), "utf8"));
  const { files } = JSON.parse(manifest) as { files: readonly string[] };
  const stage = join(folder.folder, "stage");
  for (const name of files.filter((file) => !file.startsWith("!")))
    cpSync(join(ROOT, name), join(stage, name), { recursive: true });
  writeFileSync(join(stage, "package.json"), manifest);
  const flags = ["pack", "--ignore-scripts", "--pack-destination", folder.folder];
  await run("npm", flags, { cwd: stage, env: environment(folder) });
  const [tarball] = readdirSync(folder.folder).filter((name) => name.endsWith(".tgz"));
  return join(folder.folder, tarball ?? "");
}

/** Installs with npm. If the registry is unreachable, copies the packages installed in this repository. */
async function install(folder: Temp, tarball: string): Promise<void> {
  folder.write("package.json", '{ "private": true }');
  const flags = [
    "install",
    "--prefer-offline",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--fetch-retries=0",
  ];
  const options = { cwd: folder.path("."), env: environment(folder), timeout: 40_000 };
  try {
    await run("npm", [...flags, tarball], options);
  } catch (error) {
    if (!isRegistryUnreachable(error as { killed?: boolean; stderr?: string })) throw error;
    await unpack(folder, tarball);
  }
}

/** The registry did not answer. An error answer of the registry is not meant. */
function isRegistryUnreachable({ killed, stderr = "" }: { killed?: boolean; stderr?: string }): boolean {
  return killed === true || /\bE(?:NOTFOUND|AI_AGAIN|CONN\w+|TIMEDOUT|\w+UNREACH|NOTCACHED)\b/.test(stderr);
}

async function unpack(folder: Temp, tarball: string): Promise<void> {
  const own = folder.path("node_modules/metamcp");
  mkdirSync(own, { recursive: true });
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", own]);
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as Lock;
  for (const [place, { dev, devOptional }] of Object.entries(packages)) {
    if (place === "" || dev || devOptional || !existsSync(join(ROOT, place))) continue;
    mkdirSync(dirname(folder.path(place)), { recursive: true });
    cpSync(join(ROOT, place), folder.path(place), { recursive: true });
  }
  mkdirSync(folder.path("node_modules/.bin"), { recursive: true });
  symlinkSync("../metamcp/dist/metamcp.js", folder.path("node_modules/.bin/metamcp"));
}

/** The lines of the first shell block of the page. */
function documented(): readonly string[] {
  const page = readFileSync(join(ROOT, "docs/getting-started.md"), "utf8");
  const block = /```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  return block.split("\n").flatMap((line) => line.replace(/\s+#.*$/, "").trim() || []);
}

/** Relative links of the pages in the package that lead to nothing in it. */
function deadLinks(own: string): readonly string[] {
  const pages = readdirSync(own, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".md") && !name.startsWith("node_modules"),
  );
  expect(pages.length).toBeGreaterThan(20);
  return pages.flatMap((page) => {
    const links = readFileSync(join(own, page), "utf8").matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g);
    return [...links]
      .map(([, link = ""]) => link)
      .filter((link) => !/^[a-z]+:/.test(link) && !existsSync(join(own, dirname(page), link)))
      .map((link) => `${page}: ${link}`);
  });
}

/** What users get: nothing that only a clone can use, and nothing twice. */
function checkContents(own: string): void {
  const manifest = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as object;
  expect(Object.keys(manifest)).not.toEqual(expect.arrayContaining(["scripts"]));
  expect(manifest).not.toHaveProperty("dependencies");
  expect(manifest).not.toHaveProperty("devDependencies");
  expect(deadLinks(own)).toEqual([]);
  expect(existsSync(join(own, "dist/data/words/examples.bin"))).toBe(true);
  expect(existsSync(join(own, "data/words/examples"))).toBe(false);
  const licenses = readFileSync(join(own, "dist/THIRD_PARTY_LICENSES"), "utf8");
  for (const name of ["ajv", "koa", "pg", "preact", "sucrase", "zod"])
    expect(licenses).toMatch(new RegExp(`^${name} \\d\\S* \\(MIT\\)$`, "m"));
  expect(licenses).toContain("Fabrice Bellard");
}

test("the packed package works in an empty folder as docs/getting-started.md says", {
  timeout: 180_000,
}, async () => {
  const folder = temp();
  await install(folder, await pack(folder));
  checkContents(folder.path("node_modules/metamcp"));
  const env = environment(folder);
  const started = async (command: string, ...args: string[]): Promise<string> =>
    (await run(command, args, { cwd: folder.path("."), env })).stdout;
  const npx = async (...args: string[]): Promise<string> => await started("npx", "--no-install", ...args);
  const metamcp = async (...args: string[]): Promise<string> =>
    await started(folder.path("node_modules/.bin/metamcp"), ...args);

  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const commands = documented().filter((line) => line.startsWith("metamcp "));
  expect(commands.length).toBeGreaterThanOrEqual(3);
  // `init` and `import` would change the clients of the person who runs this test, and `doctor` would fetch
  // packages.
  const harmless = commands.filter((line) => !/ (?:init|import|doctor)\b/.test(line));
  const answers: string[] = [];
  for (const [n, line] of harmless.entries()) {
    const [, ...args] = line.split(/\s+/);
    answers.push(await (n === 0 ? npx("metamcp", ...args) : metamcp(...args)));
  }
  expect(answers[0]).toBe(`${version}\n`);
  const added = commands.flatMap((line) => /^metamcp add ([a-z -]+)$/.exec(line)?.[1]?.split(" ") ?? []);
  const { servers } = JSON.parse(await metamcp("list", "--json")) as { servers: { name: string }[] };
  expect(servers.map(({ name }) => name)).toEqual(added);

  await metamcp("add", "mine", "--", ...Object.values(fixture()).flat());
  expect(await metamcp("doctor", "mine")).toMatch(/✓ mine +\d+ tools/);
  expect(await metamcp("search", "add two numbers", "--limit", "5")).toContain("mine");
  const library = 'import("metamcp").then(({ createMetaMcp }) => console.log(typeof createMetaMcp))';
  expect(await started(process.execPath, "-e", library)).toBe("function\n");

  const client = new RawClient("npx", { args: ["--no-install", "metamcp"], cwd: folder.path("."), env });
  expect((await client.initialize()).result).toMatchObject({ serverInfo: { name: "metamcp", version } });
  const result = await client.tool("mcp_call", { server: "mine", tool: "add", args: { a: 1, b: 2 } });
  expect(result).toMatchObject({ structuredContent: { sum: 3 } });
  expect(client.strays).toEqual([]);
  expect(await client.close()).toMatchObject({ code: 0 });
});
