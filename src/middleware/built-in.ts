/** The layers that come with MetaMCP. To remove one, delete its file or folder and its row. */
import type { LayerKind } from "./layer.ts";
import { ask } from "./layers/ask.ts";
import { audit } from "./layers/audit.ts";
import { cache } from "./layers/cache.ts";
import { concurrency } from "./layers/concurrency.ts";
import { filter } from "./layers/filter.ts";
import { flow } from "./layers/flow.ts";
import { hedge } from "./layers/hedge.ts";
import { policy } from "./layers/policy/policy.ts";
import { rateLimit } from "./layers/rate-limit.ts";
import { redact } from "./layers/redact/redact.ts";
import { timeout } from "./layers/timeout.ts";
import { validate } from "./layers/validate.ts";

export const BUILT_IN: ReadonlyMap<string, LayerKind> = new Map<string, LayerKind>([
  ["filter", filter],
  ["policy", policy],
  ["rate-limit", rateLimit],
  ["concurrency", concurrency],
  ["redact", redact],
  ["cache", cache],
  ["timeout", timeout],
  ["validate", validate],
  ["ask", ask],
  ["hedge", hedge],
  ["flow", flow],
  ["audit", audit],
]);
