import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Runs every cell of a matrix and every random case, which takes longer than a change should wait. */
const FULL = Boolean(process.env["METAMCP_FULL"]);

/**
 * The same random cases on every run, so that nothing fails which did not fail before; `METAMCP_SEED=n` for
 * others. At the end of each module that draws them, as loading fast-check everywhere would take longer than
 * most tests. Properties say how many cases a full run tries; without it a quarter of them.
 */
const SEED = Number(process.env["METAMCP_SEED"] ?? 20_260_101);
const FEWEST = 20;
const part = (full: number): number => (FULL ? full : Math.min(full, Math.max(FEWEST, Math.ceil(full / 4))));
const seeded = {
  name: "seeded",
  transform: (code: string) =>
    code.includes('from "fast-check"')
      ? {
          code: `${code.replaceAll(/(?<=numRuns: )[\d_]+/g, (runs) => String(part(Number(runs.replaceAll("_", "")))))}
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: ${SEED}, numRuns: ${part(100)} });
`,
          map: null,
        }
      : undefined,
};

// Node reads this file at every start, which can take twice as long as the rest of the start, and the suite
// starts thousands of processes. Tests talk to this machine alone; `test/support/install.ts` gives it to npm.
process.env["METAMCP_TEST_CA_CERTS"] ??= process.env["NODE_EXTRA_CA_CERTS"] ?? "";
delete process.env["NODE_EXTRA_CA_CERTS"];

const under =
  (path: string) =>
  ({ moduleId }: TestSpecification): boolean =>
    moduleId.startsWith(fileURLToPath(new URL(path, import.meta.url)));

/**
 * What takes longest begins first, so that no worker is left alone with it at the end. Replicas mostly wait
 * for leases, so their tests are spread among those that need the processors.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = (file: TestSpecification): number => LONG.findIndex((isIn) => isIn(file));
    const sorted = (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
    const waits = (file: TestSpecification): boolean => rank(file) > 0 && WAITING(file);
    const [waiting, others] = [sorted.filter(waits), sorted.filter((file) => !waits(file))];
    return [
      ...others.flatMap((file, n) => [file, ...waiting.slice(n, n + 1)]),
      ...waiting.slice(others.length),
    ];
  }
}
const WAITING = under("test/integration/replica/");
const LONG = [
  "test/integration/replica/kill-run",
  "test/attack/long-turns",
  "test/integration/replica/split",
  "test/browser/",
  "test/conformance/",
  "src/sandbox/",
  "test/",
  "./",
].map(under);

export default defineConfig({
  plugins: [seeded],
  test: {
    include: ["src/**/*.test.ts", "console/**/*.test.{ts,tsx}", "test/**/*.test.ts"],
    // Most tests take under ten seconds on two busy cores, and who waits for a condition gives up after
    // thirty: a hang shows soon. Those that need longer say so.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // Tests that kill, stop and cut off processes depend on what else the machine does. In CI one that fails
    // runs once more, and the report says so.
    retry: process.env["CI"] === undefined ? 0 : 1,
    pool: "forks",
    // Threads that collect garbage beside the program only take the processors from the other workers: 7 % of
    // the processor time.
    execArgv: ["--single-threaded-gc"],
    // Most tests wait for processes: with four workers two cores were four fifths busy.
    maxWorkers: 5,
    // A test leaves nothing behind, so files share a process: loading the SDKs and our modules anew for each
    // takes longer than most tests.
    isolate: false,
    sequence: { sequencer: LongFirst },
    setupFiles: process.env["METAMCP_TEST_TIMES"] === undefined ? [] : ["test/support/processor-time.ts"],
  },
});
