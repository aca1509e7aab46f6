/**
 * The client scenarios of the official suite, except login: MetaMCP is the client of the suite's server.
 * `auth.test.ts` has the login scenarios.
 */
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { INSTALL_MS } from "../support/install.ts";
import { shared } from "../support/shared.ts";
import { loadSuite, obstacle } from "./suite.ts";

const CLIENT = fileURLToPath(new URL("client.mjs", import.meta.url));

/** All client scenarios of the revisions except `auth/*`. The last one of each revision is not scored. */
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

describe.skipIf(obstacle)(
  `the official suite finds no fault with the client${obstacle ? ` (${obstacle})` : ""}`,
  () => {
    const suite = shared(loadSuite, INSTALL_MS);

    describe.each(["2025-11-25", "2026-07-28"] as const)("in revision %s", (revision) => {
      test.each(SCENARIOS[revision])("scenario %s", { timeout: 120_000 }, async (scenario) => {
        const checks = await suite().client(CLIENT, scenario, revision);
        expect(checks.filter((check) => check.startsWith("SUCCESS")).length).toBeGreaterThan(0);
        expect(checks.filter((check) => /^(FAILURE|WARNING)/.test(check))).toEqual([]);
      });
    });
  },
);
