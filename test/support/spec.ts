/** A server's settings where nothing is said of them, with less patience than users have. */
import type { ServerSpec } from "../../src/config/spec.ts";

export const COMMON = {
  lifecycle: { mode: "default" },
  criticality: "optional",
  timeoutMs: 60_000,
  deadlineMs: 60_000,
  connectTimeoutMs: 30_000,
  tools: { allow: undefined, deny: [], ask: [] },
  isolation: "shared",
  retry: "crash",
  prefix: "server",
  examples: {},
} satisfies Partial<ServerSpec>;
