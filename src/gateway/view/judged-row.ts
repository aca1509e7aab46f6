/**
 * Applies layers to the row of a tool: a layer hides the tool, or adds what a call needs (consent, an
 * approval …).
 */
import type { Principal } from "../../kernel/principal.ts";
import type { ToolFacts } from "../../kernel/tool-facts.ts";
import type { PlacedLayer } from "../../middleware/layer.ts";
import { gatesOf, hiddenBy, type LayerReason } from "../../middleware/list-rules.ts";
import type { Compiled } from "../compile.ts";
import { serverFacts } from "../endpoint/facts.ts";
import type { ToolRow } from "./tool-row.ts";

export interface Judging {
  /** The layers around calls to a server, outermost first. */
  readonly layersOf: (server: string) => readonly PlacedLayer[];
  /** The principal to judge for. Without it the row shows only what holds for everybody. */
  readonly as?: Principal | undefined;
}

interface Sources {
  readonly compiled: Pick<Compiled, "servers">;
  readonly judging?: Judging;
}

export function judgedRow(row: ToolRow, { compiled, judging }: Sources): ToolRow {
  if (!judging || !row.enabled) return row;
  const { layersOf, as } = judging;
  const layers = layersOf(row.server);
  if (layers.length === 0 && !as?.tiers) return row;
  const facts = factsOf(row, compiled);
  const hidden = hiddenBy(layers, facts, as);
  if (hidden) return { ...row, enabled: false, because: said(hidden) };
  const gates = gatesOf(layers, facts, as).map(said);
  if (gates.length === 0) return row;
  return { ...row, gates, because: [row.because, ...gates].filter(Boolean).join("; ") };
}

function said({ use, at, reason }: LayerReason): string {
  return `${use} (${at}): ${reason}`;
}

function factsOf(
  { server, tool, annotations = {} }: ToolRow,
  { servers }: Pick<Compiled, "servers">,
): ToolFacts {
  return { ...serverFacts(server, { servers }), name: tool, annotations };
}
