/** Shows what each layer would do to a call, without making it. */
import type { Call } from "../kernel/call.ts";
import { type ErrorCode, MetaMcpError } from "../kernel/errors.ts";
import { object, type Static, TEXT } from "../kernel/json-schema.ts";
import { EFFECTS, type Explanation, type Inside, type PlacedLayer } from "./layer.ts";

export const EXPLAINED_STEP = object(
  {
    use: { ...TEXT, description: "a layer, or access, name, arguments" },
    at: { ...TEXT, description: 'its place, such as endpoint "dev"' },
    effect: { enum: ["pass", ...EFFECTS, "unknown"] },
  },
  { reason: TEXT },
);
export type ExplainedStep = Static<typeof EXPLAINED_STEP>;

export interface ExplainedCall {
  readonly steps: readonly ExplainedStep[];
  /** The error code of a refused call. */
  readonly code?: ErrorCode;
  /** Somebody is asked before the call is made: the user of the client, or an approver. */
  readonly asks: boolean;
  /** The call as it would leave the last layer; undefined if it would not get there. */
  readonly call: Call | undefined;
}

/** The steps end with the layer that refuses or answers the call. */
export async function explainLayers(layers: readonly PlacedLayer[], call: Call): Promise<ExplainedCall> {
  const steps: ExplainedStep[] = [];
  let current = call;
  let asks = false;
  for (const [index, layer] of layers.entries()) {
    const { use, at } = layer;
    if (!layer.call && !layer.limit) continue;
    const said = await explained(layer, current, layers.slice(index + 1));
    steps.push({ use, at, effect: said?.effect ?? "pass", ...(said && { reason: said.reason }) });
    if (said?.effect === "deny") return { steps, code: said.code ?? "forbidden", asks, call: undefined };
    if (said?.effect === "limit") return { steps, code: "rate_limited", asks, call: undefined };
    if (said?.effect === "answer") return { steps, asks, call: undefined };
    if (said?.effect === "ask" || said?.effect === "approve") asks = true;
    if (said && "call" in said && said.call) current = said.call;
  }
  return { steps, asks, call: current };
}

/** A layer may refuse by throwing. */
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
