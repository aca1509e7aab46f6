/** What the layers of a scope leave of its lists, for whom. */
import { ANONYMOUS, type Principal } from "../kernel/principal.ts";
import { type ToolFacts, tierOf } from "../kernel/tool-facts.ts";
import type { ListRule, PlacedLayer } from "./layer.ts";

/** What a layer says of a tool, and its place. */
export interface SaidBy {
  readonly use: string;
  readonly at: string;
  readonly reason: string;
}

/**
 * Why a tool does not exist for this principal: the outermost layer that says so, and before all the tiers of its key.
 * Without one: why it exists for nobody.
 */
export function hiddenBy(
  layers: readonly PlacedLayer[],
  tool: ToolFacts,
  principal: Principal | undefined,
): SaidBy | undefined {
  if (principal && outOfTiers(tool, principal))
    return { use: "tiers", at: "the key", reason: "not in the tiers of the key" };
  for (const { use, at, list } of layers) {
    const reason = list && reasonOf(list, tool, principal);
    if (reason !== undefined) return { use, at, reason };
  }
  return undefined;
}

/** A rule that breaks hides: what cannot be judged is not shown. */
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

/** What stands before calls of the tool, the outermost first. */
export function gatesOf(
  layers: readonly PlacedLayer[],
  tool: ToolFacts,
  principal: Principal | undefined,
): readonly SaidBy[] {
  return layers.flatMap((layer) => {
    const reason = layer.gates?.(tool, principal);
    return reason === undefined ? [] : [{ use: layer.use, at: layer.at, reason }];
  });
}

/**
 * Belongs to the credential and not to a list that an administrator orders, so it is no layer: it holds before all of
 * them. What is no tool, such as a resource, is there for keys of all tiers alone to write: it only reads.
 */
export function outOfTiers({ name, annotations }: ToolFacts, { tiers }: Principal): boolean {
  return tiers !== undefined && !tiers.includes(name === "" ? "readOnly" : tierOf(annotations));
}

/** The same text for principals who see the same; undefined where everybody sees all. */
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
