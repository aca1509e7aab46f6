/** The layers around requests of clients, including calls of our own tools. */
import { BUILTIN_SERVER } from "../kernel/builtin-server.ts";
import { refusedBy } from "../kernel/call.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Raw } from "../kernel/raw.ts";
import type { ToolFacts } from "../kernel/tool-facts.ts";
import type { LayerRequest, PlacedLayer, RequestHandler, RequestMiddleware } from "./layer.ts";

export type Answering = () => Promise<Raw>;

/** The server name of our own tools. No configured server can have it. */

interface AnswerableRequest extends LayerRequest {
  readonly answer: Answering;
}

export class RequestLayers {
  readonly #layers: readonly PlacedLayer[];
  readonly #handler: RequestHandler;
  /** Whether any layer acts on requests. */
  readonly any: boolean;
  /** Whether any layer can hide our own tools. */
  readonly hideBuiltin: boolean;

  constructor(layers: readonly PlacedLayer[]) {
    this.#layers = layers;
    const around = layers.flatMap((layer) => (layer.request ? [named(layer, layer.request)] : []));
    this.any = around.length > 0;
    this.hideBuiltin = layers.some((layer) => layer.hidesOwn !== undefined);
    this.#handler = around.reduceRight<RequestHandler>(
      (next, layer) => layer(next),
      (request) => (request as AnswerableRequest).answer(),
    );
  }

  /** Rejects if a layer refuses. */
  async handle(request: LayerRequest, answer: Answering): Promise<Raw> {
    return this.any ? await this.#handler({ ...request, answer } as AnswerableRequest) : await answer();
  }

  hidesOwn(tool: string, principal: Principal): boolean {
    return this.hidingBuiltin(tool, principal) !== undefined;
  }

  /** The layer that hides the tool from the principal. */
  hidingBuiltin(tool: string, principal: Principal): PlacedLayer | undefined {
    const facts = ownFacts(tool);
    return this.#layers.find((layer) => layer.hidesOwn?.(facts, principal) ?? false);
  }
}

/** Records which layer refused: the innermost one that sees the error, so the first to set `trail.by`. */
function named({ use, at }: PlacedLayer, layer: RequestMiddleware): RequestMiddleware {
  return (next) => {
    const handle = layer(next);
    return async (request) => {
      try {
        return await handle(request);
      } catch (error) {
        if (request.trail) refusedBy(request.trail, use, at);
        throw error;
      }
    };
  };
}

export function ownFacts(tool: string): ToolFacts {
  return { server: BUILTIN_SERVER, name: tool, labels: [], annotations: {} };
}
