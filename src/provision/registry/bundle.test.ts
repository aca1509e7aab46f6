// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is about them
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { temp } from "../../../test/support/temp.ts";
import { systemClock } from "../../engine/system-clock.ts";
import { temporaryBeside } from "../../home/temporary.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Candidate } from "../candidate.ts";
import { BUNDLE_BOUNDS, type BundleParts, type FetchedBundle, fetchBundle } from "./bundle.ts";
import { unzip } from "./zip.ts";

interface File {
  readonly name: string;
  readonly data?: string | Buffer;
  readonly mode?: number;
  readonly stored?: boolean;
  /** The size in the archive, which may be wrong. */
  readonly size?: number;
  readonly flags?: number;
  readonly method?: number;
}

function zip(files: readonly File[], comment = ""): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const { name, data = "", mode = 0o100644, stored = false, flags = 0x800, ...said } of files) {
    const content = Buffer.from(data as string);
    const packed = stored ? content : deflateRawSync(content);
    const { size = content.length, method = stored ? 0 : 8 } = said;
    const written = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(written.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt8(3, 5);
    central.writeUInt16LE(flags, 8);
    central.writeUInt16LE(method, 10);
    central.writeUInt32LE(packed.length, 20);
    central.writeUInt32LE(size, 24);
    central.writeUInt16LE(written.length, 28);
    central.writeUInt16LE(mode, 40);
    central.writeUInt32LE(offset, 42);
    locals.push(local, written, packed);
    centrals.push(central, written);
    offset += 30 + written.length + packed.length;
  }
  const list = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...locals, list, end, Buffer.from(comment)]);
}

const sum = (data: Buffer): string => createHash("sha256").update(data).digest("hex");

interface Setup {
  readonly home: string;
  readonly url: string;
  readonly requests: () => number;
  fetch(archive: Buffer, more?: Partial<Candidate>, parts?: Partial<BundleParts>): Promise<FetchedBundle>;
}

async function setUp(): Promise<Setup> {
  let sent: Buffer = Buffer.alloc(0);
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    response.end(sent);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.mcpb`;
  const { home } = temp();
  return {
    home,
    url,
    requests: () => requests,
    async fetch(archive, more = {}, parts = {}) {
      sent = archive;
      const candidate: Candidate = {
        id: "io.github.acme/weather",
        name: "weather",
        description: "",
        from: "registry",
        version: "1.0.0",
        publishers: [],
        verified: true,
        entry: { command: "mcpb", args: [url] },
        variables: [],
        bundle: { url, sha256: sum(archive) },
        ...more,
      };
      return await fetchBundle(candidate, { home, env: {}, clock: systemClock, ...parts });
    },
  };
}

const manifest = (config: object, more: object = {}): File => ({
  name: "manifest.json",
  data: JSON.stringify({
    manifest_version: "0.4",
    name: "weather",
    server: { type: "node", entry_point: "server/index.js", mcp_config: config },
    ...more,
  }),
});
const index: File = { name: "server/index.js", data: "console.log(1)" };
const plain = manifest({ command: "node", args: ["${__dirname}/server/index.js"] });

/** The paths of all files below the home. */
async function files(home: string): Promise<string[]> {
  const all = await readdir(home, { recursive: true, withFileTypes: true }).catch(() => []);
  return all.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

test("a bundle is downloaded and unpacked once, readable only by the owner, and its manifest gives the command", async () => {
  const { fetch, home, requests } = await setUp();
  const archive = zip(
    [
      plain,
      { name: "server/", mode: 0o040755 },
      index,
      { name: "bin/x", data: "x", mode: 0o100755, stored: true },
    ],
    "hello",
  );
  const { entry } = await fetch(archive);
  const [path = ""] = "command" in entry ? entry.args : [];
  expect(entry).toEqual({
    command: "node",
    args: [expect.stringMatching(/\/bundles\/[^/]+\/[^/]+\/server\/index\.js$/)],
  });
  expect(path.startsWith(`${home}/bundles/`)).toBe(true);
  expect(await readFile(path, "utf8")).toBe("console.log(1)");
  expect((await stat(path)).mode & 0o777).toBe(0o644);
  expect((await stat(join(path, "../../bin/x"))).mode & 0o777).toBe(0o755);

  expect((await fetch(archive)).entry).toEqual(entry);
  expect(requests()).toBe(1);
});

const bomb = Buffer.alloc(3 << 20);

test.each<[string, Buffer, RegExp]>([
  ["a text instead of an archive", Buffer.from("hello"), /not a zip archive/],
  ["no content", Buffer.alloc(0), /not a zip archive/],
  ["no manifest", zip([index]), /no manifest/],
  ["a manifest that is not JSON", zip([{ name: "manifest.json", data: "{" }]), /not JSON/],
  ["a path out of the folder", zip([plain, { name: "../evil", data: "x" }]), /unsafe or invalid name/],
  ["a path out of a subfolder", zip([plain, { name: "a/../../evil", data: "x" }]), /unsafe or invalid name/],
  ["an absolute path", zip([plain, { name: "/evil", data: "x" }]), /unsafe or invalid name/],
  ["a backslash", zip([plain, { name: "..\\evil", data: "x" }]), /unsafe or invalid name/],
  ["a drive letter", zip([plain, { name: "C:evil", data: "x" }]), /unsafe or invalid name/],
  ["a NUL character", zip([plain, { name: "a\0b", data: "x" }]), /unsafe or invalid name/],
  ["an empty name", zip([plain, { name: "", data: "x" }]), /unsafe or invalid name/],
  ["a link", zip([plain, { name: "link", data: "/etc/passwd", mode: 0o120777 }]), /link or a device/],
  ["a link named like a folder", zip([plain, { name: "link/", mode: 0o120777 }]), /link or a device/],
  ["a device", zip([plain, { name: "tty", mode: 0o020666 }]), /link or a device/],
  ["two files with the same name", zip([plain, index, index]), /two files with the same name/],
  [
    "two Unicode forms of one name",
    zip([plain, { name: "e\u0301" }, { name: "\u00e9" }]),
    /two files with the same name/,
  ],
  [
    "a file and a folder with the same name",
    zip([plain, { name: "a", data: "x" }, { name: "a/b", data: "x" }]),
    /two files with the same name/,
  ],
  ["too many bytes", zip([plain, { name: "big", data: bomb }]), /more than 1048576 bytes/],
  [
    "a file that is larger than declared",
    zip([plain, { name: "big", data: bomb, size: 10 }]),
    /larger than it says/,
  ],
  [
    "a file that is smaller than declared",
    zip([plain, { name: "small", data: "x", size: 10 }]),
    /another size/,
  ],
  [
    "too many files",
    zip([plain, ...Array.from({ length: 60 }, (_, at) => ({ name: `f${at}` }))]),
    /more than 50 files/,
  ],
  ["an encrypted file", zip([plain, { name: "x", data: "x", flags: 1 }]), /encrypted/],
  [
    "an unknown compression method",
    zip([plain, { name: "x", data: "x", method: 12 }]),
    /unknown compression/,
  ],
])("a bundle with %s is refused and leaves no files", async (_what, archive, reason) => {
  const { fetch, home } = await setUp();
  await expect(
    fetch(archive, {}, { bounds: { ...BUNDLE_BOUNDS, files: 50, bytes: 1 << 20 } }),
  ).rejects.toThrow(reason);
  expect(await files(home)).toEqual([]);
  expect(existsSync(join(home, "..", "evil"))).toBe(false);
});

test("a download that is too large or has a wrong checksum is refused before it is unpacked", async () => {
  const { fetch, home, url } = await setUp();
  const archive = zip([plain, index]);
  const bounds = { ...BUNDLE_BOUNDS, packed: 100 };
  await expect(fetch(archive, {}, { bounds })).rejects.toThrow(/larger than 100 bytes/);
  await expect(fetch(archive, { bundle: { url, sha256: "0".repeat(64) } })).rejects.toThrow(
    /its checksum is [0-9a-f]{64} instead of 0{64}/,
  );
  // Unpacking this would fail with another error.
  await expect(fetch(Buffer.from("x"), { bundle: { url, sha256: sum(archive) } })).rejects.toThrow(
    /checksum/,
  );
  expect(await files(home)).toEqual([]);
});

test("a refused connection, a status other than 200 and an abort reject with the reason", async () => {
  const { fetch } = await setUp();
  const bundle = { url: "http://127.0.0.1:1/x", sha256: "0".repeat(64) };
  await expect(fetch(Buffer.alloc(0), { bundle })).rejects.toThrow(/^127\.0\.0\.1:1: /);
  const gone = async () => new Response("", { status: 404 });
  await expect(fetch(Buffer.alloc(0), {}, { fetch: gone })).rejects.toThrow(/status 404/);
  const signal = AbortSignal.abort(new Error("no longer"));
  await expect(fetch(zip([plain]), {}, { signal })).rejects.toThrow("no longer");
});

async function entryOf(
  config: object,
  more: object = {},
  candidate: Partial<Candidate> = {},
): Promise<FetchedBundle> {
  const { fetch } = await setUp();
  return await fetch(zip([manifest(config, more), index, { name: "bin/tool", data: "#!" }]), candidate, {
    env: { SET: "1" },
  });
}

test("variables of a manifest are replaced, and required settings become placeholders", async () => {
  const { entry, variables } = await entryOf(
    {
      command: "node",
      args: [
        "server/index.js",
        "--key=${user_config.api_key}",
        "${user_config.folders}",
        "${user_config.never}",
        "${HOME}${/}x",
      ],
      env: { LEVEL: "${user_config.level}", NEVER: "${user_config.never}", LIB: "${__dirname}/lib" },
      platform_overrides: { [process.platform]: { env: { HERE: "yes" } }, other: { command: "no" } },
    },
    {
      user_config: {
        api_key: { type: "string", title: "API key", sensitive: true, required: true },
        folders: { type: "directory", multiple: true, default: ["${HOME}/a", "/b"] },
        level: { type: "number", default: 3 },
        never: { type: "string" },
      },
    },
  );
  expect(entry).toEqual({
    command: "node",
    args: [
      expect.stringMatching(/^\/.*\/server\/index\.js$/),
      "--key=${WEATHER_API_KEY}",
      `${homedir()}/a`,
      "/b",
      `${homedir()}/x`,
    ],
    env: { LEVEL: "3", LIB: expect.stringMatching(/^\/.*\/lib$/), HERE: "yes" },
  });
  expect(variables).toEqual([
    { name: "WEATHER_API_KEY", description: "API key", required: true, secret: true },
  ]);
});

test("variables of the registry entry are passed to the bundle, except optional ones that are unset", async () => {
  const variable = (name: string, required: boolean) => ({ name, required, secret: false });
  const { entry } = await entryOf(
    { command: "node", env: { A: "1" } },
    {},
    {
      entry: { command: "mcpb", args: [], env: { TOKEN: "${TOKEN}", SET: "${SET}", UNSET: "${UNSET}" } },
      variables: [variable("TOKEN", true), variable("SET", false), variable("UNSET", false)],
    },
  );
  expect(entry).toMatchObject({ env: { A: "1", TOKEN: "${TOKEN}", SET: "${SET}" } });
  expect(entry).not.toHaveProperty("env.UNSET");
});

test("a program of the bundle is made executable", async () => {
  const { entry } = await entryOf({ command: "bin/tool" });
  const path = "command" in entry ? entry.command : "";
  expect(path).toMatch(/^\/.*\/bin\/tool$/);
  expect((await stat(path)).mode & 0o777).toBe(0o755);
});

test.each<[string, object, object, RegExp]>([
  ["a shell", { command: "bash", args: ["-c", "id"] }, {}, /program is missing/],
  ["a program of the system", { command: "/bin/sh" }, {}, /neither its own/],
  ["a program above the folder", { command: "../../../bin/sh" }, {}, /neither its own/],
  ["a program above __dirname", { command: "${__dirname}/../x" }, {}, /neither its own/],
  ["a variable of the user", { command: "node", args: ["${AWS_SECRET_ACCESS_KEY}"] }, {}, /unknown variable/],
  [
    "a variable of the user in the environment",
    { command: "node", env: { X: "${PATH:-x}" } },
    {},
    /unknown variable/,
  ],
  ["an incomplete variable", { command: "node", args: ["${HOME"] }, {}, /contains \$\{/],
  [
    "a variable in a default",
    { command: "node", args: ["${user_config.x}"] },
    { user_config: { x: { default: "${SECRET}" } } },
    /unknown variable/,
  ],
  [
    "an undeclared setting",
    { command: "node", args: ["${user_config.constructor}"] },
    {},
    /does not declare/,
  ],
  ["another platform", { command: "node" }, { compatibility: { platforms: ["plan9"] } }, /is not for/],
  ["no command", {}, {}, /is invalid/],
  ["an argument that is not a string", { command: "node", args: [1] }, {}, /is invalid/],
  [
    "an invalid name of an environment variable",
    { command: "node", env: { "A=B": "1" } },
    {},
    /name of an environment variable/,
  ],
])("a manifest with %s is refused", async (_what, config, more, reason) => {
  await expect(entryOf(config, more)).rejects.toThrow(reason);
});

test("a half-unpacked folder of a killed process is removed by the next download", async () => {
  const { fetch } = await setUp();
  const { entry } = await fetch(zip([plain, index]));
  const above = join("command" in entry ? (entry.args[0] ?? "") : "", "../../..");
  const stale = temporaryBeside(join(above, "1")).replace(`-${process.pid}-`, "-99999999-");
  await mkdir(stale);
  await writeFile(join(stale, "manifest.json"), "{}");
  await fetch(zip([plain, { ...index, data: "2" }]), { version: "2.0.0" });
  expect(existsSync(stale)).toBe(false);
  expect((await readdir(above)).length).toBe(2);
});

test("a damaged archive never writes outside its folder, and fails only with MetaMcpError", async () => {
  const { folder } = temp();
  const whole = zip(
    [plain, index, { name: "a/b/c.txt", data: "x".repeat(500) }, { name: "d", data: "y", stored: true }],
    "note",
  );
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
      fc.nat(40),
      async (changes, cut) => {
        const archive = Buffer.from(whole.subarray(0, whole.length - (cut > 30 ? cut : 0)));
        for (const [at, byte] of changes) if (at < archive.length) archive[at] = byte;
        const into = join(folder, `in${count++}`, "deep");
        await mkdir(into, { recursive: true });
        try {
          await unzip(archive, into, { files: 50, bytes: 10_000 });
        } catch (error) {
          expect(MetaMcpError.is(error)).toBe(true);
        }
        expect(await readdir(join(into, ".."))).toEqual(["deep"]);
      },
    ),
    { numRuns: 150 },
  );
  expect((await readdir(folder)).filter((name) => !name.startsWith("in"))).toEqual(["work"]);
});
