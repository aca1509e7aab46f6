/** The client's half of the official suite: MetaMCP towards a child that is the suite's own. Logging in has tests of its own. */
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { INSTALL_MS } from "../support/install.ts";
import { loadSuite, obstacle, type Suite } from "./suite.ts";

const CLIENT = fileURLToPath(new URL("client.mjs", import.meta.url));

/** All that the revisions name for clients, but for `auth/*`; the last of each is not scored. */
const SCENARIOS = {
  "2025-11-25": [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "json-schema-2020-12-preservation",
  ],
  "2026-07-28": [
    "tools_call",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
  ],
} as const;

describe.skipIf(obstacle)(`the official suite${obstacle ? ` (${obstacle})` : ""}`, () => {
  let suite: Suite;
  beforeAll(async () => {
    suite = await loadSuite();
  }, INSTALL_MS);

  describe.each(["2025-11-25", "2026-07-28"] as const)("%s", (revision) => {
    test.each(SCENARIOS[revision])("%s", { timeout: 120_000 }, async (scenario) => {
      const checks = await suite.client(CLIENT, scenario, revision);
      expect(checks.filter((check) => check.startsWith("SUCCESS")).length).toBeGreaterThan(0);
      expect(checks.filter((check) => /^(FAILURE|WARNING)/.test(check))).toEqual([]);
    });
  });
});
