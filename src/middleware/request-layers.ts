/** The layers around what clients ask of us, our own tools included. */
import type { Principal } from "../kernel/principal.ts";
import type { Raw } from "../kernel/raw.ts";
import type { ToolFacts } from "../kernel/tool-facts.ts";
import type { LayerRequest, PlacedLayer, RequestHandler, RequestMiddleware } from "./layer.ts";

export type Answering = () => Promise<Raw>;

/** Our tools go by the name of a server that no other may have. */
const OWN_SERVER = "metamcp";

interface Running extends LayerRequest {
  readonly answer: Answering;
}

export class RequestLayers {
  readonly #layers: readonly PlacedLayer[];
  readonly #handler: RequestHandler;
  /** Whether anything stands around requests at all. */
  readonly any: boolean;
  /** Whether a tool of ours may not exist for somebody. */
  readonly hideOwn: boolean;

  constructor(layers: readonly PlacedLayer[]) {
    this.#layers = layers;
    const around = layers.flatMap(({ use, request }) => (request ? [named(use, request)] : []));
    this.any = around.length > 0;
    this.hideOwn = layers.some((layer) => layer.hidesOwn !== undefined);
    this.#handler = around.reduceRight<RequestHandler>(
      (next, layer) => layer(next),
      (request) => (request as Running).answer(),
    );
  }

  /** Rejects where a layer refuses. */
  async handle(request: LayerRequest, answer: Answering): Promise<Raw> {
    return this.any ? await this.#handler({ ...request, answer } as Running) : await answer();
  }

  hidesOwn(tool: string, principal: Principal): boolean {
    return this.hidingOwn(tool, principal) !== undefined;
  }

  /** The layer for which it does not exist for them. */
  hidingOwn(tool: string, principal: Principal): PlacedLayer | undefined {
    const facts = ownFacts(tool);
    return this.#layers.find((layer) => layer.hidesOwn?.(facts, principal) ?? false);
  }
}

/** The layer that refused is the first to see its own refusal. */
function named(use: string, layer: RequestMiddleware): RequestMiddleware {
  return (next) => {
    const handle = layer(next);
    return async (request) => {
      try {
        return await handle(request);
      } catch (error) {
        if (request.trail) request.trail.by ??= use;
        throw error;
      }
    };
  };
}

export function ownFacts(tool: string): ToolFacts {
  return { server: OWN_SERVER, name: tool, labels: [], annotations: {} };
}
