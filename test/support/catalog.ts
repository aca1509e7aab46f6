/** A catalog for one test that searches nothing, and someone who uses it and cannot be asked. */
import { onTestFinished } from "vitest";
import { ToolCache } from "../../src/catalog/cache.ts";
import { Catalog } from "../../src/catalog/catalog.ts";
import type { Origin } from "../../src/kernel/call.ts";
import { ManualClock } from "../../src/kernel/clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { EMPTY_OBJECT } from "../../src/kernel/raw.ts";
import { temp } from "./temp.ts";

export const NOBODY: Origin = {
  session: "session",
  capabilities: EMPTY_OBJECT,
  uplink: { notify: () => {}, request: () => Promise.reject(new Error("nobody there")) },
};

export interface OpenCatalog {
  readonly catalog: Catalog;
  readonly cache: ToolCache;
  readonly clock: ManualClock;
}

/** Call inside a test: what it wrote is gone after it. */
export function openCatalog(home = temp().home): OpenCatalog {
  const log = silentLog;
  const clock = new ManualClock();
  const cache = new ToolCache({ home, log });
  onTestFinished(() => cache.flush());
  const search = { update: () => {}, remove: () => {}, search: async () => [] };
  return { catalog: new Catalog({ cache, search, clock, log }), cache, clock };
}
