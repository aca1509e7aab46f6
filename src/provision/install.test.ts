// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configs hold them

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { processesWithEnv } from "../../test/support/processes.ts";
import { FIXTURE, FIXTURE_TOOLS, temp } from "../../test/support/temp.ts";
import { until } from "../../test/support/until.ts";
import { createStdioConnector } from "../child/stdio/connector.ts";
import { systemClock as clock } from "../engine/system-clock.ts";
import { Trials } from "../engine/trial.ts";
import { silentLog } from "../kernel/log.ts";
import { LOCAL } from "../kernel/principal.ts";
import { EMPTY_OBJECT } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import type { Candidate, Entry } from "./candidate.ts";
import { ConfigFileWriter } from "./config-file-writer.ts";
import type { NewEntry } from "./confined.ts";
import { type InstallCaller, Installer, type InstallParts } from "./install.ts";
import { planOf } from "./plan.ts";

/** Trials here have no home to confine servers in. */
class OpenWriter extends ConfigFileWriter {
  override async confined(entry: Entry): Promise<NewEntry> {
    return { entry };
  }
}

const ORIGIN = {
  ...LOCAL,
  session: "s",
  capabilities: EMPTY_OBJECT,
  uplink: { notify: () => {}, request: () => Promise.reject(new Error("nobody")) },
};

function setUp(
  env: Record<string, string> = {},
  inBundle?: Pick<Candidate, "entry" | "variables">,
  reload?: () => Promise<void>,
) {
  const folder = temp();
  const connector = createStdioConnector({ log: silentLog, clock, maxMessageBytes: 1e6 });
  onTestFinished(() => connector.killAllNow());
  const trials = new Trials({ log: silentLog, clock, connector: () => Promise.resolve(connector) });
  const applied: string[] = [];
  const unpacked: string[] = [];
  const parts: InstallParts = {
    env,
    clock,
    log: silentLog,
    writer: new OpenWriter({
      home: folder.home,
      env,
      now: () => new Date("2026-01-02T03:04:05Z"),
      configPath: () => folder.config,
      written: () => Promise.resolve(),
      reload: reload ?? (async () => void applied.push(readFileSync(folder.config, "utf8"))),
    }),
    unpack({ bundle }) {
      unpacked.push(bundle?.sha256 ?? "");
      return inBundle ? Promise.resolve(inBundle) : Promise.reject(new Error("checksum"));
    },
    trial: (spec, signal) => trials.run(spec, signal),
    connect: () => Promise.reject(new Error("later")),
  };
  const mark = `install-${folder.folder.replaceAll(/\W/g, "")}`;
  const candidate = (flags: readonly string[] = [], more: Partial<Candidate> = {}): Candidate => ({
    id: "io.github.a/fixture",
    name: "fixture",
    description: "",
    from: "registry",
    version: "1.0.0",
    publishers: [],
    verified: true,
    entry: { command: process.execPath, args: [FIXTURE, ...flags], env: { INSTALL_MARK: mark } },
    variables: [],
    ...more,
  });
  return {
    folder,
    applied,
    unpacked,
    candidate,
    running: () => processesWithEnv("INSTALL_MARK", mark),
    installer: new Installer(parts),
    plan: (...given: Parameters<typeof candidate>) => planOf(candidate(...given), env),
  };
}

/** A server that writes to stderr and exits. */
const failingServer = (words: string, code = 1): Pick<Candidate, "entry"> => ({
  entry: {
    command: process.execPath,
    args: ["-e", "console.error(process.argv[1]); process.exit(+process.argv[2])", words, `${code}`],
  },
});

function newCaller(): InstallCaller & { readonly signal: CallSignal; readonly reports: string[] } {
  const reports: string[] = [];
  return { origin: ORIGIN, signal: new CallSignal(), report: (message) => reports.push(message), reports };
}

test("a server that starts is written to the config and applied, and the trial process ends", async () => {
  const { folder, installer, plan, running, applied } = setUp();
  const caller = newCaller();
  const { name, tools } = await installer.install(plan(), caller);
  expect(name).toBe("fixture");
  expect(tools).toHaveLength(FIXTURE_TOOLS);
  expect(running()).toEqual([]);
  const written = readFileSync(folder.config, "utf8");
  expect(JSON.parse(written)).toEqual({ mcpServers: { fixture: plan().entry } });
  expect(applied).toEqual([written]);
  expect(caller.reports[0]).toBe("installing fixture …");
});

test("comments and order of the config stay, a backup is made, and a name that is taken gets a number", async () => {
  const { folder, installer, plan } = setUp();
  const before =
    '{\n  // mine\n  "mcpServers": {\n    "fixture": { "command": "other" } // keep\n  },\n  "pool": {}\n}\n';
  folder.write(".mcp.json", before);
  expect((await installer.install(plan(), newCaller())).name).toBe("fixture-2");
  const after = readFileSync(folder.config, "utf8");
  expect(after).toMatch(/\/\/ mine[\s\S]*"command": "other" \}, \/\/ keep[\s\S]*"fixture-2"[\s\S]*"pool"/);
  const [copy = ""] = readdirSync(join(folder.home, "backups"));
  expect(readFileSync(join(folder.home, "backups", copy), "utf8")).toBe(before);
});

test("a server that is already configured is neither written nor started", async () => {
  const { folder, installer, plan } = setUp();
  folder.writeConfig({ other: plan(["--exit-at-once", "1"]).entry });
  const before = readFileSync(folder.config, "utf8");
  expect((await installer.install(plan(["--exit-at-once", "1"]), newCaller())).name).toBe("other");
  expect(readFileSync(folder.config, "utf8")).toBe(before);
});

test("a server that exits is not written, and its output is in the error", async () => {
  const { folder, installer, plan, running } = setUp();
  await expect(installer.install(plan([], failingServer("no license", 3)), newCaller())).rejects.toThrow(
    /^fixture was not added, nothing was written: The process exited with code 3\. Its output: no license$/,
  );
  expect(existsSync(folder.config)).toBe(false);
  expect(running()).toEqual([]);
});

test("a server without tools is not added", async () => {
  const { folder, installer, plan, running } = setUp();
  await expect(installer.install(plan(["--bare"]), newCaller())).rejects.toThrow(/has no tools/);
  expect(existsSync(folder.config)).toBe(false);
  expect(running()).toEqual([]);
});

test("errors do not contain values of variables", async () => {
  const { installer, plan } = setUp({ KEY: "hunter2-hunter2" });
  const variables = [{ name: "KEY", required: true, secret: true }];
  const failed = installer.install(plan([], { ...failingServer("bad key ${KEY}"), variables }), newCaller());
  await expect(failed).rejects.toThrow(/bad key \[secret\]$/);
});

test("concurrent callers share one installation", async () => {
  const { folder, installer, plan } = setUp();
  const journal = folder.journal();
  const all = await Promise.all(
    [1, 2, 3].map(() => installer.install(plan(["--journal", journal.file]), newCaller())),
  );
  expect(all.map(({ name }) => name)).toEqual(["fixture", "fixture", "fixture"]);
  expect(journal.events("start")).toHaveLength(1);
  expect(
    Object.keys((JSON.parse(readFileSync(folder.config, "utf8")) as { mcpServers: object }).mcpServers),
  ).toEqual(["fixture"]);
});

test("an installation continues while one caller still waits", async () => {
  const { folder, installer, plan, running } = setUp();
  const gate = folder.path("gate");
  const [first, second] = [newCaller(), newCaller()];
  const one = installer.install(plan(["--wait-for", gate]), first);
  const other = installer.install(plan(["--wait-for", gate]), second);
  await until(() => running().length === 1, { what: "the trial" });
  first.signal.abort(new Error("not I"));
  await expect(one).rejects.toThrow("not I");
  writeFileSync(gate, "");
  expect((await other).name).toBe("fixture");
});

test("an installation ends when the last caller cancels, and can be started again", async () => {
  const { folder, installer, plan, running } = setUp();
  const gate = folder.path("gate");
  const caller = newCaller();
  const cancelled = installer.install(plan(["--wait-for", gate]), caller);
  await until(() => running().length === 1, { what: "the trial" });
  caller.signal.abort(new Error("not I"));
  await expect(cancelled).rejects.toThrow("not I");
  await until(() => running().length === 0, { what: "the end of the trial" });
  expect(existsSync(folder.config)).toBe(false);
  writeFileSync(gate, "");
  expect((await installer.install(plan(["--wait-for", gate]), newCaller())).name).toBe("fixture");
});

test("an invalid config is not changed, and nothing is started", async () => {
  const { folder, installer, plan, running } = setUp();
  mkdirSync(dirname(folder.config), { recursive: true });
  folder.write(".mcp.json", "{ broken");
  const journal = folder.path("started.jsonl");
  const tried = installer.install(plan(["--journal", journal]), newCaller());
  await expect(tried).rejects.toThrow(/nothing was written: .*fix it first/);
  expect(readFileSync(folder.config, "utf8")).toBe("{ broken");
  expect(existsSync(journal)).toBe(false);
  expect(running()).toEqual([]);
});

test("if a written entry cannot be applied, the error says that it was added", async () => {
  const { folder, installer, plan } = setUp({}, undefined, () => Promise.reject(new Error("broken by now")));
  await expect(installer.install(plan(), newCaller())).rejects.toThrow(
    /^fixture was added to .*, but cannot be used yet: broken by now$/,
  );
  expect(readFileSync(folder.config, "utf8")).toContain('"fixture"');
});

test("bundles with the same address and different checksums are separate installations", async () => {
  const { installer, candidate, unpacked } = setUp();
  const bundle = (digit: string): Candidate =>
    candidate([], { bundle: { url: "https://x.example/a.mcpb", sha256: digit.repeat(64) } });
  const asked = [bundle("a"), bundle("b"), bundle("a")].map((one) =>
    installer.install(planOf(one, {}), newCaller()),
  );
  await expect(Promise.all(asked)).rejects.toThrow(/checksum/);
  await Promise.allSettled(asked);
  expect(unpacked).toEqual(["a".repeat(64), "b".repeat(64)]);
});

const BUNDLE = { url: "https://a.example/a.mcpb", sha256: "0".repeat(64) };

test("a bundle runs its own command, only with the variables that were shown", async () => {
  const names = (...all: string[]) => all.map((name) => ({ name, required: false, secret: true }));
  const entry = {
    command: process.execPath,
    args: [FIXTURE],
    env: { SHOWN: "${SHOWN}", HIDDEN: "${HIDDEN}" },
  };
  const inBundle = { entry, variables: names("HIDDEN") };
  const { folder, installer, plan } = setUp({ SHOWN: "shown-value", HIDDEN: "hidden-value" }, inBundle);
  await installer.install(plan([], { bundle: BUNDLE, variables: names("SHOWN") }), newCaller());
  const { mcpServers } = JSON.parse(readFileSync(folder.config, "utf8")) as { mcpServers: object };
  expect(mcpServers).toEqual({ fixture: { ...entry, env: { SHOWN: "${SHOWN}" } } });

  const must = { ...inBundle, variables: [{ name: "HIDDEN", required: true, secret: true }] };
  const other = setUp({ SHOWN: "shown-value", HIDDEN: "hidden-value" }, must);
  const failed = other.installer.install(
    other.plan([], { bundle: BUNDLE, variables: names("SHOWN") }),
    newCaller(),
  );
  await expect(failed).rejects.toThrow(/needs HIDDEN, which its entry does not declare/);
});

test("a bundle with a wrong checksum is not run", async () => {
  const { folder, installer, plan } = setUp();
  await expect(installer.install(plan([], { bundle: BUNDLE }), newCaller())).rejects.toThrow(/checksum/);
  expect(existsSync(folder.config)).toBe(false);
});
