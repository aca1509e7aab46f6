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
import { temporaryBeside } from "../../home/temporary.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { systemClock } from "../../system-clock.ts";
import type { Candidate } from "../candidate.ts";
import { BUNDLE_BOUNDS, type BundleParts, type FetchedBundle, fetchBundle } from "./bundle.ts";
import { unzip } from "./zip.ts";

interface File {
  readonly name: string;
  readonly data?: string | Buffer;
  readonly mode?: number;
  readonly stored?: boolean;
  /** What the archive says about it, be it true or not. */
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

interface Shop {
  readonly home: string;
  readonly url: string;
  readonly requests: () => number;
  fetch(archive: Buffer, more?: Partial<Candidate>, parts?: Partial<BundleParts>): Promise<FetchedBundle>;
}

async function shop(): Promise<Shop> {
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

/** Every file below the home, by its path. */
async function files(home: string): Promise<string[]> {
  const all = await readdir(home, { recursive: true, withFileTypes: true }).catch(() => []);
  return all.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

test("a bundle is unpacked once, for the owner alone, and run by its own manifest", async () => {
  const { fetch, home, requests } = await shop();
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
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(path, "../../bin/x"))).mode & 0o777).toBe(0o700);

  expect((await fetch(archive)).entry).toEqual(entry);
  expect(requests()).toBe(1);
});

const bomb = Buffer.alloc(3 << 20);

test.each<[string, Buffer, RegExp]>([
  ["no archive", Buffer.from("hello"), /not a zip archive/],
  ["nothing", Buffer.alloc(0), /not a zip archive/],
  ["no manifest", zip([index]), /no manifest/],
  ["a manifest that is no JSON", zip([{ name: "manifest.json", data: "{" }]), /not JSON/],
  ["a way up", zip([plain, { name: "../evil", data: "x" }]), /unsafe or invalid name/],
  ["a way up inside", zip([plain, { name: "a/../../evil", data: "x" }]), /unsafe or invalid name/],
  ["an absolute path", zip([plain, { name: "/evil", data: "x" }]), /unsafe or invalid name/],
  ["a backslash", zip([plain, { name: "..\\evil", data: "x" }]), /unsafe or invalid name/],
  ["a drive", zip([plain, { name: "C:evil", data: "x" }]), /unsafe or invalid name/],
  ["a NUL", zip([plain, { name: "a\0b", data: "x" }]), /unsafe or invalid name/],
  ["an empty name", zip([plain, { name: "", data: "x" }]), /unsafe or invalid name/],
  ["a link", zip([plain, { name: "link", data: "/etc/passwd", mode: 0o120777 }]), /link or a device/],
  ["a link that says it is a folder", zip([plain, { name: "link/", mode: 0o120777 }]), /link or a device/],
  ["a device", zip([plain, { name: "tty", mode: 0o020666 }]), /link or a device/],
  ["two files of one name", zip([plain, index, index]), /two files with the same name/],
  [
    "two ways to write one name",
    zip([plain, { name: "e\u0301" }, { name: "\u00e9" }]),
    /two files with the same name/,
  ],
  [
    "a file that is a folder too",
    zip([plain, { name: "a", data: "x" }, { name: "a/b", data: "x" }]),
    /two files with the same name/,
  ],
  ["too much", zip([plain, { name: "big", data: bomb }]), /more than 1048576 bytes/],
  [
    "too much under a smaller number",
    zip([plain, { name: "big", data: bomb, size: 10 }]),
    /larger than it says/,
  ],
  ["less than it says", zip([plain, { name: "small", data: "x", size: 10 }]), /another size/],
  [
    "too many",
    zip([plain, ...Array.from({ length: 60 }, (_, at) => ({ name: `f${at}` }))]),
    /more than 50 files/,
  ],
  ["a secret", zip([plain, { name: "x", data: "x", flags: 1 }]), /encrypted/],
  ["another way to pack", zip([plain, { name: "x", data: "x", method: 12 }]), /unknown compression/],
])("refused, with nothing left behind: %s", async (_what, archive, reason) => {
  const { fetch, home } = await shop();
  await expect(
    fetch(archive, {}, { bounds: { ...BUNDLE_BOUNDS, files: 50, bytes: 1 << 20 } }),
  ).rejects.toThrow(reason);
  expect(await files(home)).toEqual([]);
  expect(existsSync(join(home, "..", "evil"))).toBe(false);
});

test("a download that is too large, or not what was announced, is refused before it is looked into", async () => {
  const { fetch, home, url } = await shop();
  const archive = zip([plain, index]);
  const bounds = { ...BUNDLE_BOUNDS, packed: 100 };
  await expect(fetch(archive, {}, { bounds })).rejects.toThrow(/larger than 100 bytes/);
  await expect(fetch(archive, { bundle: { url, sha256: "0".repeat(64) } })).rejects.toThrow(
    /its checksum is [0-9a-f]{64} instead of 0{64}/,
  );
  // Nor is it looked into: this would be refused for another reason.
  await expect(fetch(Buffer.from("x"), { bundle: { url, sha256: sum(archive) } })).rejects.toThrow(
    /checksum/,
  );
  expect(await files(home)).toEqual([]);
});

test("no answer, another status and an abort are reasons", async () => {
  const { fetch } = await shop();
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
  const { fetch } = await shop();
  return await fetch(zip([manifest(config, more), index, { name: "bin/tool", data: "#!" }]), candidate, {
    env: { SET: "1" },
  });
}

test("a manifest's places are filled, and what the user must choose stays open under a name of its own", async () => {
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

test("the registry's variables for a bundle are kept, but not those that nobody set", async () => {
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

test("a program of the bundle can be run, whatever the archive said", async () => {
  const { entry } = await entryOf({ command: "bin/tool" });
  const path = "command" in entry ? entry.command : "";
  expect(path).toMatch(/^\/.*\/bin\/tool$/);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
});

test.each<[string, object, object, RegExp]>([
  ["a shell", { command: "bash", args: ["-c", "id"] }, {}, /program is missing/],
  ["a program of ours", { command: "/bin/sh" }, {}, /neither its own/],
  ["a program above it", { command: "../../../bin/sh" }, {}, /neither its own/],
  ["a program above it by name", { command: "${__dirname}/../x" }, {}, /neither its own/],
  ["a variable of ours", { command: "node", args: ["${AWS_SECRET_ACCESS_KEY}"] }, {}, /unknown variable/],
  [
    "a variable of ours in the environment",
    { command: "node", env: { X: "${PATH:-x}" } },
    {},
    /unknown variable/,
  ],
  ["half a place", { command: "node", args: ["${HOME"] }, {}, /contains \$\{/],
  [
    "a place in a default",
    { command: "node", args: ["${user_config.x}"] },
    { user_config: { x: { default: "${SECRET}" } } },
    /unknown variable/,
  ],
  [
    "a setting that it does not declare",
    { command: "node", args: ["${user_config.constructor}"] },
    {},
    /does not declare/,
  ],
  ["another system", { command: "node" }, { compatibility: { platforms: ["plan9"] } }, /is not for/],
  ["no command", {}, {}, /is invalid/],
  ["arguments that are none", { command: "node", args: [1] }, {}, /is invalid/],
  [
    "an environment variable that is none",
    { command: "node", env: { "A=B": "1" } },
    {},
    /name of an environment variable/,
  ],
])("a manifest with %s is refused", async (_what, config, more, reason) => {
  await expect(entryOf(config, more)).rejects.toThrow(reason);
});

test("what a killed process left half unpacked goes with the next one", async () => {
  const { fetch } = await shop();
  const { entry } = await fetch(zip([plain, index]));
  const above = join("command" in entry ? (entry.args[0] ?? "") : "", "../../..");
  const stale = temporaryBeside(join(above, "1")).replace(`-${process.pid}-`, "-99999999-");
  await mkdir(stale);
  await writeFile(join(stale, "manifest.json"), "{}");
  await fetch(zip([plain, { ...index, data: "2" }]), { version: "2.0.0" });
  expect(existsSync(stale)).toBe(false);
  expect((await readdir(above)).length).toBe(2);
});

test("no archive whatsoever writes outside its folder, or fails in a way of its own", async () => {
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
