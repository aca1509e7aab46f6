import { defineConfig } from "vitest/config";

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
  },
});
