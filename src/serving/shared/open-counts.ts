/** Counts limits over all replicas. Loads the code for that only where they are shared. */
import type { ReplicaCounts } from "../../replica/limits/replica-counts.ts";
import type { GatewayContext } from "../gateway-options.ts";
import type { GatewayReplicas } from "../replicas.ts";

/**
 * The counts of limits over all replicas; undefined for a gateway that shares nothing. `joined`: the replicas
 * that share them, once this one has joined.
 */
export async function openCounts(
  { options, store, clock, log, replica }: Omit<GatewayContext, "counts">,
  joined: () => Pick<GatewayReplicas, "sharing" | "uncertain" | "certain"> | undefined,
): Promise<ReplicaCounts | undefined> {
  const { limits: rows } = store;
  if (options.replicaAddress === undefined || !rows || replica === undefined) return undefined;
  const { ReplicaCounts: Counts } = await import("../../replica/limits/replica-counts.ts");
  return new Counts({
    store,
    rows,
    clock,
    log,
    replica,
    replicas: () => joined()?.sharing ?? 1,
    uncertain: () => joined()?.uncertain ?? false,
    certain: async () => await joined()?.certain(),
  });
}
