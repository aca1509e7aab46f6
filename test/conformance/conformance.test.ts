/**
 * Runs the official suite against our fixture, directly and through MetaMCP. MetaMCP in between must make no
 * difference. `METAMCP_FULL` for each transport of each era.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { FULL } from "../support/full.ts";
import { httpGateway } from "../support/http-gateway.ts";
import { INSTALL_MS } from "../support/install.ts";
import { shared } from "../support/shared.ts";
import { temp } from "../support/temp.ts";
import { loadSuite, obstacle, type Report, type Revision } from "./suite.ts";

const SERVER = fileURLToPath(new URL("server.mjs", import.meta.url));
/** Client's revision → child's era → scenario → the checks that differ, and the reason. */
const EXPECTED = JSON.parse(readFileSync(new URL("expected.json", import.meta.url), "utf8")) as Record<
  Revision,
  Record<Era, Record<string, { reason: string; checks: string[] }>>
>;

type Era = "legacy" | "2026";
type ChildTransport = "stdio" | "http";

/** Each of both eras over each transport once. */
const PART = {
  "2025-11-25": [
    ["legacy", "stdio"],
    ["2026", "http"],
  ],
  "2026-07-28": [
    ["legacy", "http"],
    ["2026", "stdio"],
  ],
} as const;

/** Starts the fixture over HTTP and returns its URL. */
async function startFixture(era: Era): Promise<string> {
  const child = spawn(process.execPath, [SERVER, "--http", "0", "--era", era], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill());
  return await new Promise((resolve, reject) => {
    child.stdout.once("data", (line: Buffer) => resolve(line.toString().trim()));
    child.once("exit", (code) => reject(new Error(`the fixture ended with ${code}`)));
  });
}

async function through(era: Era, transport: ChildTransport, isolation: string): Promise<string> {
  const folder = temp();
  const child =
    transport === "stdio"
      ? { command: process.execPath, args: [SERVER, "--era", era] }
      : { type: "http", url: await startFixture(era) };
  folder.writeConfig({ fixture: { ...child, prefix: "none", isolation } });
  return (await httpGateway(folder, "--surface", "aggregate")).url;
}

/** Scenario → checks that differ, as they came out through MetaMCP. */
function difference(direct: Report, passed: Report): Record<string, string[]> {
  const differing: Record<string, string[]> = {};
  for (const scenario of new Set([...direct.keys(), ...passed.keys()])) {
    const [expected = [], got = []] = [direct.get(scenario), passed.get(scenario)];
    const changed = [...got.filter((check) => !expected.includes(check)), ...missing(expected, got)];
    if (changed.length > 0) differing[scenario] = changed;
  }
  return differing;
}

/** Checks that the suite did not perform at all. */
function missing(expected: readonly string[], got: readonly string[]): string[] {
  const named = new Set(got.map((check) => check.slice(check.indexOf(" "))));
  return expected
    .filter((check) => !named.has(check.slice(check.indexOf(" "))))
    .map((check) => `MISSING ${check}`);
}

const failures = (report: Report): string[] =>
  [...report].flatMap(([scenario, checks]) =>
    checks.filter((check) => check.startsWith("FAILURE")).map((check) => `${scenario}: ${check}`),
  );

describe.skipIf(obstacle)(`the official suite${obstacle ? ` (${obstacle})` : ""}`, () => {
  const suite = shared(loadSuite, INSTALL_MS);

  describe.each([
    ["2025-11-25", "legacy"],
    ["2026-07-28", "2026"],
  ] as const)("in revision %s", (revision, era) => {
    let direct: Report;

    test("passes everything that is scored against the fixture itself", { timeout: 120_000 }, async () => {
      direct = await suite().server(await startFixture(era), revision);
      expect(direct.size).toBeGreaterThan(30);
      // The fixture does not implement the tasks extension.
      expect(failures(direct).filter((line) => !line.startsWith("tasks-"))).toEqual([]);
    });

    test.each(FULL ? Object.values(PART).flat() : PART[revision])(
      "gives the same results through MetaMCP to a %s child over %s",
      // The HTTP status is chosen before anything is written. On a very busy machine an answer may become a
      // stream instead, so the test is retried.
      { timeout: 120_000, retry: 2 },
      async (childEra, transport) => {
        // While calls of several clients wait, a question of a legacy child on stdio cannot be attributed to
        // one of them, and over HTTP the ids of its questions are already in use. Each session then needs its
        // own connection.
        const needsOwnConnection = era === "2026" && childEra === "legacy";
        const url = await through(childEra, transport, needsOwnConnection ? "session" : "shared");
        const passed = await suite().server(url, revision);
        const expected = Object.entries(EXPECTED[revision][childEra]).map(([scenario, { checks }]) => [
          scenario,
          checks,
        ]);
        // An outdated entry fails too.
        expect(difference(direct, passed)).toEqual(Object.fromEntries(expected));
      },
    );
  });
});
