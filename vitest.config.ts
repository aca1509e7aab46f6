import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The same random cases on every run, so that nothing fails which did not fail before; `METAMCP_SEED=n` for others.
 * At the end of each module that draws them, as loading fast-check everywhere would take longer than most tests.
 */
const SEED = Number(process.env["METAMCP_SEED"] ?? 20_260_101);
const seeded = {
  name: "seeded",
  transform: (code: string) =>
    code.includes('from "fast-check"')
      ? { code: `${code}\nfc.configureGlobal({ ...fc.readConfigureGlobal(), seed: ${SEED} });\n`, map: null }
      : undefined,
};

/** Those beside the source come last: they are short, so no worker is left alone with a long one at the end. */
class ShortLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => moduleId.startsWith(LONG);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
const LONG = fileURLToPath(new URL("test/", import.meta.url));

export default defineConfig({
  plugins: [seeded],
  test: {
    include: ["src/**/*.test.ts", "console/**/*.test.{ts,tsx}", "test/**/*.test.ts"],
    // Most tests take under ten seconds on two busy cores, and who waits for a condition gives up after thirty: a hang shows
    // soon. Those that need longer say so.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Most tests wait for processes: with four workers two cores are four fifths busy.
    maxWorkers: 4,
    // A test leaves nothing behind, so files share a process: loading the SDKs and our modules anew for each takes longer than most tests.
    isolate: false,
    sequence: { sequencer: ShortLast },
  },
});
