/**
 * The login scenarios of the official suite, with `metamcp auth` as the client. `METAMCP_FULL` runs all of
 * them.
 */
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { FULL } from "../support/full.ts";
import { INSTALL_MS } from "../support/install.ts";
import { shared } from "../support/shared.ts";
import { loadSuite, obstacle } from "./suite.ts";

const CLIENT = fileURLToPath(new URL("auth-client.mjs", import.meta.url));

const ESSENTIAL = [
  "basic-cimd",
  "pre-registration",
  "metadata-var3",
  "scope-step-up",
  "scope-retry-limit",
  "token-endpoint-auth-basic",
  "offline-access-scope",
  "resource-mismatch",
  "authorization-server-migration",
  "iss-wrong-issuer",
  "iss-unexpected",
  "metadata-issuer-mismatch",
];
const ERA_2025 = [
  "metadata-default",
  "metadata-var1",
  "metadata-var2",
  "metadata-var3",
  "basic-cimd",
  "scope-from-www-authenticate",
  "scope-from-scopes-supported",
  "scope-omitted-when-undefined",
  "scope-step-up",
  "scope-retry-limit",
  "token-endpoint-auth-basic",
  "token-endpoint-auth-post",
  "token-endpoint-auth-none",
  "pre-registration",
];
const REST = [
  "metadata-default",
  "offline-access-not-supported",
  "iss-supported",
  "iss-not-advertised",
  "iss-supported-missing",
  "iss-normalized",
];

/** Of the extension `io.modelcontextprotocol/oauth-client-credentials`. */
const EXTENSIONS = ["client-credentials-basic", "client-credentials-jwt"];

const SCENARIOS = [
  ...[...ESSENTIAL, ...(FULL ? REST : [])].map((name) => ["2026-07-28", name] as const),
  ...(FULL ? ERA_2025 : ["scope-step-up"]).map((name) => ["2025-11-25", name] as const),
  ...EXTENSIONS.map((name) => [undefined, name] as const),
];

describe.skipIf(obstacle)(
  `the official suite finds no fault with the login of the client${obstacle ? ` (${obstacle})` : ""}`,
  () => {
    const suite = shared(loadSuite, INSTALL_MS);

    test.each(SCENARIOS)("in revision %s, scenario auth/%s", { timeout: 120_000 }, async (revision, name) => {
      const checks = await suite().client(CLIENT, `auth/${name}`, revision);
      expect(checks.filter((check) => check.startsWith("SUCCESS")).length).toBeGreaterThan(0);
      expect(checks.filter((check) => /^(FAILURE|WARNING)/.test(check))).toEqual([]);
    });
  },
);
