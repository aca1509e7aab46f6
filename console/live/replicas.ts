/**
 * The replicas of the gateway, for pages whose rows name one. Read once, and again after each connection
 * loss.
 */
import { may } from "../session.ts";
import { useList } from "./resource.ts";

export interface Replicas {
  /** The gateway has replicas, or can have them. */
  readonly shown: boolean;
  readonly ids: readonly string[];
}

export function useReplicas(): Replicas {
  const rows = useList("/replicas", may("stats.read") ? {} : undefined, {}).value.value ?? [];
  return {
    shown: rows.length > 1 || rows.some(({ address }) => address !== undefined),
    ids: rows.map(({ id }) => id),
  };
}
