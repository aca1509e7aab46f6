/** Default settings of a server for tests, with shorter timeouts than in production. */
import { Findings } from "../../src/config/field.ts";
import { readPlain } from "../../src/config/plain-fields.ts";
import type { ServerSpec } from "../../src/config/spec.ts";

export const COMMON = {
  ...readPlain({}, undefined, new Findings()),
  lifecycle: { mode: "default" },
  criticality: "optional",
  timeoutMs: 60_000,
  deadlineMs: 60_000,
  connectTimeoutMs: 30_000,
  tools: { allow: undefined, deny: [], ask: [] },
  isolation: "shared",
  placement: "replica",
  retry: "crash",
  prefix: "server",
  examples: {},
} satisfies Partial<ServerSpec>;

/** The same for a local and for a remote server. */
export const COMMON_STDIO = { ...COMMON, ...readPlain({}, "stdio", new Findings()) };
export const COMMON_REMOTE = { ...COMMON, ...readPlain({}, "remote", new Findings()) };
