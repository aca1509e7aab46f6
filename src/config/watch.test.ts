import { appendFile, mkdir, mkdtemp, rename, rm, symlink, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../engine/system-clock.ts";
import { type Clock, ManualClock } from "../kernel/clock.ts";
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

interface Reported {
  readonly configs: Config[];
  readonly faults: (string | undefined)[];
}

async function startWatch(...paths: string[]): Promise<Reported> {
  return await startWatchWith(systemClock, ...(paths.length > 0 ? paths : [path]));
}

async function startWatchWith(clock: Clock, ...candidates: string[]): Promise<Reported> {
  const initial = await loadConfig(pickConfig(candidates), { env: {} });
  const reported: Reported = { configs: [], faults: [] };
  watch = watchConfig(
    candidates,
    (config) => void reported.configs.push(config),
    (fault) => void reported.faults.push(fault),
    { env: {}, clock, initial },
  );
  return reported;
}

const names = ({ configs }: Reported): string => [...(configs.at(-1)?.servers.keys() ?? [])].join(" ");

/** Much longer than the promised two seconds, because the machine may be busy. */
const soon = { timeout: 15_000, interval: 20 };

/** Waits until the current file has been read, so that a later change is not part of the first read. */
async function settle(reported: Reported): Promise<void> {
  await writeFile(path, file("settled"));
  await expect.poll(() => names(reported), soon).toBe("settled");
}

test("a change in place, by rename, and by appending is reported", async () => {
  await writeFile(path, file("a"));
  const reported = await startWatch();
  await writeFile(path, file("a", "b"));
  await expect.poll(() => names(reported), soon).toBe("a b");
  await writeFile(join(folder, ".mcp.json.swp"), file("c"));
  await rename(join(folder, ".mcp.json.swp"), path);
  await expect.poll(() => names(reported), soon).toBe("c");
  await writeFile(path, '{"mcpServers": {"d": {"command": "d"}');
  await appendFile(path, "}}");
  await expect.poll(() => names(reported), soon).toBe("d");
});

test("a file that is created, removed, and created again is reported", async () => {
  const reported = await startWatch();
  await writeFile(path, file("a"));
  await expect.poll(() => names(reported), soon).toBe("a");
  await unlink(path);
  await expect.poll(() => reported.configs.at(-1)?.exists, soon).toBe(false);
  await writeFile(path, file("b"));
  await expect.poll(() => names(reported), soon).toBe("b");
});

test("changes in a folder that is created later or replaced are reported", async () => {
  const inner = join(folder, "x", "y");
  path = join(inner, "mcp.json");
  const reported = await startWatch();
  await mkdir(inner, { recursive: true });
  await writeFile(path, file("a"));
  await expect.poll(() => names(reported), soon).toBe("a");
  await rename(inner, join(folder, "old"));
  await mkdir(inner);
  await writeFile(path, file("b"));
  await expect.poll(() => names(reported), soon).toBe("b");
  await writeFile(path, file("c"));
  await expect.poll(() => names(reported), soon).toBe("c");
});

test("an invalid file does not change the config, and its fault is reported until it is fixed", async () => {
  await writeFile(path, file("a"));
  const reported = await startWatch();
  await writeFile(path, '{"mcpServers": {');
  await expect.poll(() => reported.faults.at(-1), soon).toContain(`${path}:1:17`);
  await writeFile(path, file("a"));
  await expect.poll(() => reported.faults.at(-1), soon).toBeUndefined();
  expect(reported.configs).toEqual([]);

  await writeFile(path, "[]");
  await expect.poll(() => reported.faults.at(-1), soon).toContain("not an object");
  await writeFile(path, file("b"));
  await expect.poll(() => names(reported), soon).toBe("b");
  expect(reported.faults.at(-1)).toBeUndefined();
});

test("after fifty rapid edits the last one is reported", async () => {
  const reported = await startWatch();
  for (let edit = 1; edit <= 50; edit++) {
    await writeFile(path, file(`s${edit}`));
    if (edit % 7 === 0) await rename(path, `${path}.old`);
  }
  await expect.poll(() => names(reported), soon).toBe("s50");
});

test("a new timestamp, a new comment and other files are not reported", async () => {
  await writeFile(path, file("a"));
  const reported = await startWatch();
  await settle(reported);
  const before = reported.configs.length;
  await utimes(path, new Date(), new Date());
  await writeFile(path, `// hello\n${file("settled")}`);
  await writeFile(join(folder, "other.json"), file("x"));
  await writeFile(path, file("last"));
  await expect.poll(() => names(reported), soon).toBe("last");
  expect(reported.configs).toHaveLength(before + 1);
});

test("a change between loading and watching is reported", async () => {
  await writeFile(path, file("a"));
  const initial = await loadConfig(path, { env: {} });
  await writeFile(path, file("b"));
  const reported: Reported = { configs: [], faults: [] };
  watch = watchConfig(
    path,
    (config) => void reported.configs.push(config),
    (fault) => void reported.faults.push(fault),
    { env: {}, clock: systemClock, initial },
  );
  await expect.poll(() => names(reported), soon).toBe("b");
});

test("a change without a file event is found by polling", async () => {
  const real = join(folder, "elsewhere", "real.json");
  await mkdir(dirname(real));
  await writeFile(real, file("a"));
  await symlink(real, path);
  const reported = await startWatch();
  await writeFile(real, file("b"));
  await expect.poll(() => names(reported), soon).toBe("b");
  // With the same size and timestamp the change is visible only in the content.
  const then = new Date();
  await utimes(real, then, then);
  await writeFile(real, file("c"));
  await utimes(real, then, then);
  await expect.poll(() => names(reported), soon).toBe("c");
});

test("a change with a file event is reported without polling", async () => {
  await writeFile(path, file("a"));
  const withoutPoll: Clock = {
    now: () => systemClock.now(),
    after: (ms, run) => systemClock.after(ms >= 1_000 ? 1e6 : ms, run),
  };
  const reported = await startWatchWith(withoutPoll, path);
  await writeFile(path, file("b"));
  await expect.poll(() => names(reported), soon).toBe("b");
  await writeFile(`${path}.new`, file("c"));
  await rename(`${path}.new`, path);
  await expect.poll(() => names(reported), soon).toBe("c");
});

test("a file that is missing for a moment is not reported as removed, one that stays missing is", async () => {
  await writeFile(path, file("a"));
  const clock = new ManualClock();
  const reported = await startWatchWith(clock, path);
  /** Removes the file and advances the clock until a second check is scheduled in addition to the poll. */
  const untilMissing = async (): Promise<void> => {
    await expect.poll(() => clock.advance(1) ?? clock.pending, soon).toBe(1);
    await unlink(path);
    clock.advance(1_000);
    await expect.poll(() => clock.pending, soon).toBe(2);
  };
  await untilMissing();
  clock.advance(100);
  await writeFile(path, file("a"));
  clock.advance(1_000);
  await expect.poll(() => clock.advance(10) ?? clock.pending, soon).toBe(1);
  expect(reported.configs).toEqual([]);

  await untilMissing();
  await expect.poll(() => clock.advance(10) ?? reported.configs.at(-1)?.exists, soon).toBe(false);
});

test("without a file the first path that appears is used, and stays in use while it exists", async () => {
  const [here, home] = [join(folder, ".mcp.json"), join(folder, "home", "mcp.json")];
  const reported = await startWatch(here, home);
  await mkdir(dirname(home));
  await writeFile(home, file("home"));
  await expect.poll(() => names(reported), soon).toBe("home");
  await writeFile(here, file("here"));
  await writeFile(home, file("home", "more"));
  await expect.poll(() => names(reported), soon).toBe("home more");
  await unlink(home);
  await expect.poll(() => names(reported), soon).toBe("here");
  expect(reported.configs.at(-1)?.path).toBe(here);
});

test("after close nothing is reported", async () => {
  const reported = await startWatch();
  await settle(reported);
  const before = reported.configs.length;
  watch?.close();
  await writeFile(path, file("late"));
  const other = await startWatch();
  await writeFile(path, file("later"));
  await expect.poll(() => names(other), soon).toBe("later");
  expect(reported.configs).toHaveLength(before);
});
