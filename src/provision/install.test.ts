// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configs hold them

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { carrying } from "../../test/support/processes.ts";
import { FIXTURE, FIXTURE_TOOLS, temp } from "../../test/support/temp.ts";
import { until } from "../../test/support/until.ts";
import { createStdioConnector } from "../child/stdio/connector.ts";
import { silentLog } from "../kernel/log.ts";
import { LOCAL } from "../kernel/principal.ts";
import { EMPTY_OBJECT } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { systemClock as clock } from "../system-clock.ts";
import { Trials } from "../trial.ts";
import type { Candidate } from "./candidate.ts";
import { FileLedger } from "./file-ledger.ts";
import { Installer, type InstallParts, type Waiting } from "./install.ts";
import { planOf } from "./plan.ts";

const NOBODY = {
  ...LOCAL,
  session: "s",
  capabilities: EMPTY_OBJECT,
  uplink: { notify: () => {}, request: () => Promise.reject(new Error("nobody")) },
};

function shop(
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
  const workshop: InstallParts = {
    env,
    clock,
    log: silentLog,
    ledger: new FileLedger({
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
    running: () => carrying("INSTALL_MARK", mark),
    installer: new Installer(workshop),
    plan: (...given: Parameters<typeof candidate>) => planOf(candidate(...given), env),
  };
}

/** A server that says something and dies. */
const dying = (words: string, code = 1): Pick<Candidate, "entry"> => ({
  entry: {
    command: process.execPath,
    args: ["-e", "console.error(process.argv[1]); process.exit(+process.argv[2])", words, `${code}`],
  },
});

function waiting(): Waiting & { readonly signal: CallSignal; readonly heard: string[] } {
  const heard: string[] = [];
  return { origin: NOBODY, signal: new CallSignal(), report: (message) => heard.push(message), heard };
}

test("a server that runs is written down and taken over; nothing of the trial stays", async () => {
  const { folder, installer, plan, running, applied } = shop();
  const who = waiting();
  const { name, tools } = await installer.install(plan(), who);
  expect(name).toBe("fixture");
  expect(tools).toHaveLength(FIXTURE_TOOLS);
  expect(running()).toEqual([]);
  const written = readFileSync(folder.config, "utf8");
  expect(JSON.parse(written)).toEqual({ mcpServers: { fixture: plan().entry } });
  expect(applied).toEqual([written]);
  expect(who.heard[0]).toBe("installing fixture …");
});

test("comments, order and a copy of the file are kept; a name that is taken gets a number", async () => {
  const { folder, installer, plan } = shop();
  const before =
    '{\n  // mine\n  "mcpServers": {\n    "fixture": { "command": "other" } // keep\n  },\n  "pool": {}\n}\n';
  folder.write(".mcp.json", before);
  expect((await installer.install(plan(), waiting())).name).toBe("fixture-2");
  const after = readFileSync(folder.config, "utf8");
  expect(after).toMatch(/\/\/ mine[\s\S]*"command": "other" \}, \/\/ keep[\s\S]*"fixture-2"[\s\S]*"pool"/);
  const [copy = ""] = readdirSync(join(folder.home, "backups"));
  expect(readFileSync(join(folder.home, "backups", copy), "utf8")).toBe(before);
});

test("what is there already is not written twice, nor started", async () => {
  const { folder, installer, plan } = shop();
  folder.writeConfig({ other: plan(["--exit-at-once", "1"]).entry });
  const before = readFileSync(folder.config, "utf8");
  expect((await installer.install(plan(["--exit-at-once", "1"]), waiting())).name).toBe("other");
  expect(readFileSync(folder.config, "utf8")).toBe(before);
});

test("one that dies leaves nothing behind but its last words", async () => {
  const { folder, installer, plan, running } = shop();
  await expect(installer.install(plan([], dying("no license", 3)), waiting())).rejects.toThrow(
    /^fixture was not added, nothing was written: The process exited with code 3\. Its output: no license$/,
  );
  expect(existsSync(folder.config)).toBe(false);
  expect(running()).toEqual([]);
});

test("one without tools is of no use", async () => {
  const { folder, installer, plan, running } = shop();
  await expect(installer.install(plan(["--bare"]), waiting())).rejects.toThrow(/has no tools/);
  expect(existsSync(folder.config)).toBe(false);
  expect(running()).toEqual([]);
});

test("values of variables are in nothing that is said", async () => {
  const { installer, plan } = shop({ KEY: "hunter2-hunter2" });
  const variables = [{ name: "KEY", required: true, secret: true }];
  const failed = installer.install(plan([], { ...dying("bad key ${KEY}"), variables }), waiting());
  await expect(failed).rejects.toThrow(/bad key \[secret\]$/);
});

test("many who want the same get one", async () => {
  const { folder, installer, plan } = shop();
  const journal = folder.journal();
  const all = await Promise.all(
    [1, 2, 3].map(() => installer.install(plan(["--journal", journal.file]), waiting())),
  );
  expect(all.map(({ name }) => name)).toEqual(["fixture", "fixture", "fixture"]);
  expect(journal.events("start")).toHaveLength(1);
  expect(
    Object.keys((JSON.parse(readFileSync(folder.config, "utf8")) as { mcpServers: object }).mcpServers),
  ).toEqual(["fixture"]);
});

test("it goes on while one still waits", async () => {
  const { folder, installer, plan, running } = shop();
  const gate = folder.path("gate");
  const [first, second] = [waiting(), waiting()];
  const one = installer.install(plan(["--wait-for", gate]), first);
  const other = installer.install(plan(["--wait-for", gate]), second);
  await until(() => running().length === 1, { what: "the trial" });
  first.signal.abort(new Error("not I"));
  await expect(one).rejects.toThrow("not I");
  writeFileSync(gate, "");
  expect((await other).name).toBe("fixture");
});

test("it ends with the last who waits, and can be begun anew", async () => {
  const { folder, installer, plan, running } = shop();
  const gate = folder.path("gate");
  const who = waiting();
  const cancelled = installer.install(plan(["--wait-for", gate]), who);
  await until(() => running().length === 1, { what: "the trial" });
  who.signal.abort(new Error("not I"));
  await expect(cancelled).rejects.toThrow("not I");
  await until(() => running().length === 0, { what: "the end of the trial" });
  expect(existsSync(folder.config)).toBe(false);
  writeFileSync(gate, "");
  expect((await installer.install(plan(["--wait-for", gate]), waiting())).name).toBe("fixture");
});

test("a config that cannot be understood is left as it is", async () => {
  const { folder, installer, plan, running } = shop();
  mkdirSync(dirname(folder.config), { recursive: true });
  folder.write(".mcp.json", "{ broken");
  const journal = folder.path("started.jsonl");
  const tried = installer.install(plan(["--journal", journal]), waiting());
  await expect(tried).rejects.toThrow(/nothing was written: .*fix it first/);
  expect(readFileSync(folder.config, "utf8")).toBe("{ broken");
  expect(existsSync(journal)).toBe(false);
  expect(running()).toEqual([]);
});

test("what was written is not said to be unwritten when it cannot be taken over", async () => {
  const { folder, installer, plan } = shop({}, undefined, () => Promise.reject(new Error("broken by now")));
  await expect(installer.install(plan(), waiting())).rejects.toThrow(
    /^fixture was added to .*, but cannot be used yet: broken by now$/,
  );
  expect(readFileSync(folder.config, "utf8")).toContain('"fixture"');
});

test("two contents of one address are two installations", async () => {
  const { installer, candidate, unpacked } = shop();
  const bundle = (digit: string): Candidate =>
    candidate([], { bundle: { url: "https://x.example/a.mcpb", sha256: digit.repeat(64) } });
  const asked = [bundle("a"), bundle("b"), bundle("a")].map((one) =>
    installer.install(planOf(one, {}), waiting()),
  );
  await expect(Promise.all(asked)).rejects.toThrow(/checksum/);
  await Promise.allSettled(asked);
  expect(unpacked).toEqual(["a".repeat(64), "b".repeat(64)]);
});

test("a download that broke off is told apart from a broken server", async () => {
  const { installer, plan } = shop();
  const words = "npm error Could not read '/home/me/.npm/_npx/c98ccc168155bafa/package.json'";
  await expect(installer.install(plan([], dying(words)), waiting())).rejects.toThrow(
    /delete \/home\/me\/\.npm\/_npx\/c98ccc168155bafa and try again\.$/,
  );
});

const BUNDLE = { url: "https://a.example/a.mcpb", sha256: "0".repeat(64) };

test("of a bundle runs what is in it, with the variables that were shown and no others", async () => {
  const names = (...all: string[]) => all.map((name) => ({ name, required: false, secret: true }));
  const entry = {
    command: process.execPath,
    args: [FIXTURE],
    env: { SHOWN: "${SHOWN}", HIDDEN: "${HIDDEN}" },
  };
  const inBundle = { entry, variables: names("HIDDEN") };
  const { folder, installer, plan } = shop({ SHOWN: "shown-value", HIDDEN: "hidden-value" }, inBundle);
  await installer.install(plan([], { bundle: BUNDLE, variables: names("SHOWN") }), waiting());
  const { mcpServers } = JSON.parse(readFileSync(folder.config, "utf8")) as { mcpServers: object };
  expect(mcpServers).toEqual({ fixture: { ...entry, env: { SHOWN: "${SHOWN}" } } });

  const must = { ...inBundle, variables: [{ name: "HIDDEN", required: true, secret: true }] };
  const other = shop({ SHOWN: "shown-value", HIDDEN: "hidden-value" }, must);
  const failed = other.installer.install(
    other.plan([], { bundle: BUNDLE, variables: names("SHOWN") }),
    waiting(),
  );
  await expect(failed).rejects.toThrow(/needs HIDDEN, which its entry does not declare/);
});

test("a bundle that is not what was announced is not run", async () => {
  const { folder, installer, plan } = shop();
  await expect(installer.install(plan([], { bundle: BUNDLE }), waiting())).rejects.toThrow(/checksum/);
  expect(existsSync(folder.config)).toBe(false);
});
