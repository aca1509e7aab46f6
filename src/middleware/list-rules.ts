/** Applies the list rules of layers: which tools are hidden from a principal, and why. */
import { ANONYMOUS, type Principal } from "../kernel/principal.ts";
import { type ToolFacts, tierOf } from "../kernel/tool-facts.ts";
import type { ListRule, PlacedLayer } from "./layer.ts";

/** A layer, its place, and what it says about a tool. */
export interface LayerReason {
  readonly use: string;
  readonly at: string;
  readonly reason: string;
}

export const OUT_OF_TIERS = "not in the tiers of the key";

/**
 * Why a tool does not exist for this principal. The tiers of its key come first, then the layers, outermost
 * first. Without a principal: why the tool exists for nobody.
 */
export function hiddenBy(
  layers: readonly PlacedLayer[],
  tool: ToolFacts,
  principal: Principal | undefined,
): LayerReason | undefined {
  if (principal && outOfTiers(tool, principal)) return { use: "tiers", at: "the key", reason: OUT_OF_TIERS };
  for (const { use, at, list } of layers) {
    const reason = list && reasonOf(list, tool, principal);
    if (reason !== undefined) return { use, at, reason };
  }
  return undefined;
}

/** Whether the layers hide all tools that the server may have. Its lists need not be known. */
export function hidesServer(
  layers: readonly PlacedLayer[],
  server: ToolFacts,
  principal: Principal,
): boolean {
  return layers.some(({ list }) => list?.hidesServer?.(server, principal) ?? false);
}

/** A rule that throws hides the tool. */
function reasonOf(list: ListRule, tool: ToolFacts, principal: Principal | undefined): string | undefined {
  try {
    return principal ? list.hides(tool, principal) : hiddenFromAll(list, tool);
  } catch {
    return "the layer failed";
  }
}

function hiddenFromAll(list: ListRule, tool: ToolFacts): string | undefined {
  return list.keyOf ? list.hidesFromAll?.(tool) : list.hides(tool, ANONYMOUS);
}

/** What calls of the tool need (consent, an approval …), outermost layer first. */
export function gatesOf(
  layers: readonly PlacedLayer[],
  tool: ToolFacts,
  principal: Principal | undefined,
): readonly LayerReason[] {
  return layers.flatMap((layer) => {
    const reason = layer.gates?.(tool, principal);
    return reason === undefined ? [] : [{ use: layer.use, at: layer.at, reason }];
  });
}

/**
 * Whether the tiers of the key exclude the tool. Tiers belong to the credential, so this is not a layer and
 * comes before all layers. Facts without a tool name stand for prompts and resources, which count as
 * `readOnly`.
 */
export function outOfTiers({ name, annotations }: ToolFacts, { tiers }: Principal): boolean {
  return tiers !== undefined && !tiers.includes(name === "" ? "readOnly" : tierOf(annotations));
}

/** The same text for principals that see the same tools; undefined if everybody sees all tools. */
export function listKey(
  layers: Iterable<PlacedLayer>,
  { tiers, ...principal }: Principal,
): string | undefined {
  let any = tiers !== undefined;
  const parts: string[] = [tiers?.toSorted().join() ?? "*"];
  for (const { list } of layers) {
    if (!list) continue;
    any = true;
    parts.push(list.keyOf?.(principal) ?? "");
  }
  return any ? JSON.stringify(parts) : undefined;
}
