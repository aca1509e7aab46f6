/** The figures of the range that was chosen. All parts of the overview share one request. */
import type { ReadonlySignal } from "@preact/signals";
import type { Usage } from "../../api/types.ts";
import { type Loaded, useResource } from "../../live/resource.ts";
import { rangeInAddress } from "../../parts/usage-range.tsx";

/** A step of a longer range takes an hour or a day, and its sums are more. */
const USAGE_MS = { "1h": 5_000, "24h": 5_000, "7d": 60_000, "30d": 60_000 } as const;

export function useOverviewUsage(): ReadonlySignal<Loaded<Usage>> {
  const range = rangeInAddress();
  return useResource("/usage", { range }, { everyMs: USAGE_MS[range] });
}
