/**
 * Checks before calls, such as limits and approvals: what all tools of a list have in common is said once.
 * Pure.
 */
import type { ToolRow } from "../api/types.ts";

type Gated = Pick<ToolRow, "enabled" | "gates">;

/** The checks that every tool of the list has which can be used. */
export function commonGates(rows: readonly Gated[]): readonly string[] {
  const [first, ...others] = rows.filter(({ enabled }) => enabled);
  if (others.length === 0) return [];
  return (first?.gates ?? []).filter((gate) => others.every(({ gates = [] }) => gates.includes(gate)));
}

export function ownGates({ gates = [] }: Gated, common: readonly string[]): readonly string[] {
  return gates.filter((gate) => !common.includes(gate));
}
