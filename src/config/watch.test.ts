import { appendFile, mkdir, mkdtemp, rename, rm, symlink, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Clock, ManualClock } from "../kernel/clock.ts";
import { systemClock } from "../system-clock.ts";
import { loadConfig } from "./load.ts";
import { pickConfig } from "./locate.ts";
import type { Config } from "./spec.ts";
import { type ConfigWatch, watchConfig } from "./watch.ts";

let folder: string;
let path: string;
let watch: ConfigWatch | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "metamcp-watch-"));
  path = join(folder, ".mcp.json");
});
afterEach(async () => {
  watch?.close();
  await rm(folder, { recursive: true, force: true });
});

const file = (...names: string[]): string =>
  JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, { command: name }])) });

interface Seen {
  readonly configs: Config[];
  readonly faults: (string | undefined)[];
}

async function follow(...paths: string[]): Promise<Seen> {
  return await followWith(systemClock, ...(paths.length > 0 ? paths : [path]));
}

async function followWith(clock: Clock, ...candidates: string[]): Promise<Seen> {
  const initial = await loadConfig(await pickConfig(candidates), { env: {} });
  const seen: Seen = { configs: [], faults: [] };
  watch = watchConfig(
    candidates,
    (config) => void seen.configs.push(config),
    (fault) => void seen.faults.push(fault),
    { env: {}, clock, initial },
  );
  return seen;
}

const names = ({ configs }: Seen): string => [...(configs.at(-1)?.servers.keys() ?? [])].join(" ");

/** Far beyond the two seconds that are promised: the machine may be busy. */
const soon = { timeout: 15_000, interval: 20 };

/** The file as it is now was looked at: a later change of it is not taken for the first look. */
async function settle(seen: Seen): Promise<void> {
  await writeFile(path, file("settled"));
  await expect.poll(() => names(seen), soon).toBe("settled");
}

test("a change in place, one by rename, and one that only appends", async () => {
  await writeFile(path, file("a"));
  const seen = await follow();
  await writeFile(path, file("a", "b"));
  await expect.poll(() => names(seen), soon).toBe("a b");
  await writeFile(join(folder, ".mcp.json.swp"), file("c"));
  await rename(join(folder, ".mcp.json.swp"), path);
  await expect.poll(() => names(seen), soon).toBe("c");
  await writeFile(path, '{"mcpServers": {"d": {"command": "d"}');
  await appendFile(path, "}}");
  await expect.poll(() => names(seen), soon).toBe("d");
});

test("a file that appears later, goes, and comes back", async () => {
  const seen = await follow();
  await writeFile(path, file("a"));
  await expect.poll(() => names(seen), soon).toBe("a");
  await unlink(path);
  await expect.poll(() => seen.configs.at(-1)?.exists, soon).toBe(false);
  await writeFile(path, file("b"));
  await expect.poll(() => names(seen), soon).toBe("b");
});

test("a folder that appears later, and one that is replaced", async () => {
  const inner = join(folder, "x", "y");
  path = join(inner, "mcp.json");
  const seen = await follow();
  await mkdir(inner, { recursive: true });
  await writeFile(path, file("a"));
  await expect.poll(() => names(seen), soon).toBe("a");
  await rename(inner, join(folder, "old"));
  await mkdir(inner);
  await writeFile(path, file("b"));
  await expect.poll(() => names(seen), soon).toBe("b");
  await writeFile(path, file("c"));
  await expect.poll(() => names(seen), soon).toBe("c");
});

test("a file that is broken for a moment changes nothing, and is told until it is mended", async () => {
  await writeFile(path, file("a"));
  const seen = await follow();
  await writeFile(path, '{"mcpServers": {');
  await expect.poll(() => seen.faults.at(-1), soon).toContain(`${path}:1:17`);
  await writeFile(path, file("a"));
  await expect.poll(() => seen.faults.at(-1), soon).toBeUndefined();
  expect(seen.configs).toEqual([]);

  await writeFile(path, "[]");
  await expect.poll(() => seen.faults.at(-1), soon).toContain("not an object");
  await writeFile(path, file("b"));
  await expect.poll(() => names(seen), soon).toBe("b");
  expect(seen.faults.at(-1)).toBeUndefined();
});

test("fifty edits at once end in the last one", async () => {
  const seen = await follow();
  for (let edit = 1; edit <= 50; edit++) {
    await writeFile(path, file(`s${edit}`));
    if (edit % 7 === 0) await rename(path, `${path}.old`);
  }
  await expect.poll(() => names(seen), soon).toBe("s50");
});

test("touching it, rewriting it, comments and other files emit nothing", async () => {
  await writeFile(path, file("a"));
  const seen = await follow();
  await settle(seen);
  const told = seen.configs.length;
  await utimes(path, new Date(), new Date());
  await writeFile(path, `// hello\n${file("settled")}`);
  await writeFile(join(folder, "other.json"), file("x"));
  await writeFile(path, file("last"));
  await expect.poll(() => names(seen), soon).toBe("last");
  expect(seen.configs).toHaveLength(told + 1);
});

test("what changed between loading and watching is not lost", async () => {
  await writeFile(path, file("a"));
  const initial = await loadConfig(path, { env: {} });
  await writeFile(path, file("b"));
  const seen: Seen = { configs: [], faults: [] };
  watch = watchConfig(
    path,
    (config) => void seen.configs.push(config),
    (fault) => void seen.faults.push(fault),
    { env: {}, clock: systemClock, initial },
  );
  await expect.poll(() => names(seen), soon).toBe("b");
});

test("a change that raises no event in its folder is found by the poll", async () => {
  const real = join(folder, "elsewhere", "real.json");
  await mkdir(dirname(real));
  await writeFile(real, file("a"));
  await symlink(real, path);
  const seen = await follow();
  await writeFile(real, file("b"));
  await expect.poll(() => names(seen), soon).toBe("b");
  // The same size and the same time: only reading it tells.
  const then = new Date();
  await utimes(real, then, then);
  await writeFile(real, file("c"));
  await utimes(real, then, then);
  await expect.poll(() => names(seen), soon).toBe("c");
});

test("events alone are enough: nobody waits for the poll where they come", async () => {
  await writeFile(path, file("a"));
  const patient: Clock = {
    now: () => systemClock.now(),
    after: (ms, run) => systemClock.after(ms >= 1_000 ? 1e6 : ms, run),
  };
  const seen = await followWith(patient, path);
  await writeFile(path, file("b"));
  await expect.poll(() => names(seen), soon).toBe("b");
  await writeFile(`${path}.new`, file("c"));
  await rename(`${path}.new`, path);
  await expect.poll(() => names(seen), soon).toBe("c");
});

test("a file that is away for a moment is still there; one that stays away is gone", async () => {
  await writeFile(path, file("a"));
  const clock = new ManualClock();
  const seen = await followWith(clock, path);
  /** Lets what is due happen until something waits for a second look beside the poll. */
  const noticed = async (): Promise<void> => {
    await expect.poll(() => clock.advance(1) ?? clock.pending, soon).toBe(1);
    await unlink(path);
    clock.advance(1_000);
    await expect.poll(() => clock.pending, soon).toBe(2);
  };
  await noticed();
  clock.advance(100);
  await writeFile(path, file("a"));
  clock.advance(1_000);
  await expect.poll(() => clock.advance(10) ?? clock.pending, soon).toBe(1);
  expect(seen.configs).toEqual([]);

  await noticed();
  await expect.poll(() => clock.advance(10) ?? seen.configs.at(-1)?.exists, soon).toBe(false);
});

test("without a file the first of the places where one appears is followed, and stays in use", async () => {
  const [here, home] = [join(folder, ".mcp.json"), join(folder, "home", "mcp.json")];
  const seen = await follow(here, home);
  await mkdir(dirname(home));
  await writeFile(home, file("home"));
  await expect.poll(() => names(seen), soon).toBe("home");
  await writeFile(here, file("here"));
  await writeFile(home, file("home", "more"));
  await expect.poll(() => names(seen), soon).toBe("home more");
  await unlink(home);
  await expect.poll(() => names(seen), soon).toBe("here");
  expect(seen.configs.at(-1)?.path).toBe(here);
});

test("after closing nothing is told any more", async () => {
  const seen = await follow();
  await settle(seen);
  const told = seen.configs.length;
  watch?.close();
  await writeFile(path, file("late"));
  const other = await follow();
  await writeFile(path, file("later"));
  await expect.poll(() => names(other), soon).toBe("later");
  expect(seen.configs).toHaveLength(told);
});
