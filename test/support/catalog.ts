/** A catalog without search for one test, and an origin that cannot be asked anything. */

import { ToolCache } from "../../src/catalog/cache.ts";
import { Catalog } from "../../src/catalog/catalog.ts";
import type { Origin, ServerId } from "../../src/kernel/call.ts";
import { ManualClock } from "../../src/kernel/clock.ts";
import { type ListSource, listKeyOf } from "../../src/kernel/list-key.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { LOCAL } from "../../src/kernel/principal.ts";
import { EMPTY_OBJECT } from "../../src/kernel/raw.ts";
import { atEnd } from "./shared.ts";
import { temp } from "./temp.ts";

export const TEST_ORIGIN: Origin = {
  ...LOCAL,
  session: "session",
  capabilities: EMPTY_OBJECT,
  uplink: { notify: () => {}, request: () => Promise.reject(new Error("nobody there")) },
};

export interface OpenCatalog {
  readonly catalog: Catalog;
  readonly cache: ToolCache;
  readonly clock: ManualClock;
}

/** Call inside a test. Its files are deleted after the test. */
export function openCatalog(home = temp().home): OpenCatalog {
  const log = silentLog;
  const clock = new ManualClock();
  const cache = new ToolCache({ home, log });
  atEnd(() => cache.flush());
  const search = { update: () => {}, remove: () => {}, search: async () => [] };
  return { catalog: new Catalog({ cache, search, clock, log }), cache, clock };
}

/** The source of a list for clients without capabilities. */
export const listBy = (server: ServerId): ListSource => ({ server, key: listKeyOf(TEST_ORIGIN) });
