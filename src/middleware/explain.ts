/** What would become of a call, layer by layer, without making it. */
import type { Call } from "../kernel/call.ts";
import { type ErrorCode, MetaMcpError } from "../kernel/errors.ts";
import type { Explanation, Inside, PlacedLayer } from "./layer.ts";

export interface ExplainedStep {
  readonly use: string;
  /** Where its entry stands, in words. */
  readonly at: string;
  readonly effect: "pass" | Explanation["effect"] | "unknown";
  readonly reason?: string;
}

export interface ExplainedCall {
  readonly steps: readonly ExplainedStep[];
  /** Why it is not made: of the error table. */
  readonly code?: ErrorCode;
  /** A person or somebody else is asked first. */
  readonly asks: boolean;
  /** As it would reach what is inside; undefined where it would not. */
  readonly call: Call | undefined;
}

/** Ends with the layer that refuses or answers. */
export async function explainLayers(layers: readonly PlacedLayer[], call: Call): Promise<ExplainedCall> {
  const steps: ExplainedStep[] = [];
  let going = call;
  let asks = false;
  for (const [place, layer] of layers.entries()) {
    const { use, at } = layer;
    if (!layer.call && !layer.limit) continue;
    const said = await explained(layer, going, layers.slice(place + 1));
    steps.push({ use, at, effect: said?.effect ?? "pass", ...(said && { reason: said.reason }) });
    if (said?.effect === "deny") return { steps, code: said.code ?? "forbidden", asks, call: undefined };
    if (said?.effect === "limit") return { steps, code: "rate_limited", asks, call: undefined };
    if (said?.effect === "answer") return { steps, asks, call: undefined };
    if (said?.effect === "ask" || said?.effect === "approve") asks = true;
    if (said && "call" in said && said.call) going = said.call;
  }
  return { steps, asks, call: going };
}

/** A refusal that is thrown is one that is said. */
async function explained(
  layer: PlacedLayer,
  call: Call,
  inside: Inside,
): Promise<Explanation | { readonly effect: "unknown"; readonly reason: string } | undefined> {
  if (!layer.explain)
    return { effect: "unknown", reason: "the layer cannot say in advance; it may refuse or change the call" };
  try {
    return await layer.explain(call, inside);
  } catch (error) {
    if (MetaMcpError.is(error)) return { effect: "deny", reason: error.message, code: error.code };
    return { effect: "deny", reason: "the layer failed, so the call is refused", code: "internal" };
  }
}
