/** A surface with functions around its requests, and a text before its instructions. */
import type { Origin } from "../kernel/call.ts";
import type { Asker } from "../kernel/list-key.ts";
import type { Raw } from "../kernel/raw.ts";
import type { ClientRequest, ListStates, Surface } from "./surface.ts";

/** Acts on a request of a client. `answer` is what is inside: the next function, or the surface. */
export type AroundRequest = (request: ClientRequest, answer: Surface["handle"]) => Promise<Raw>;

export interface Wrapping {
  /** The first is the outermost. */
  readonly around: readonly AroundRequest[];
  readonly introduction?: (() => string) | undefined;
  readonly hears?: Surface["hears"];
}

export class WrappedSurface implements Surface {
  readonly handle: Surface["handle"];
  readonly hears: Surface["hears"];
  readonly #surface: Surface;
  readonly #introduction: (() => string) | undefined;

  constructor(surface: Surface, { around, introduction, hears }: Wrapping) {
    this.#surface = surface;
    this.#introduction = introduction;
    this.hears = hears;
    this.handle = around.reduceRight<Surface["handle"]>(
      (answer, one) => (request) => one(request, answer),
      (request) => surface.handle(request),
    );
  }

  get capabilities(): Surface["capabilities"] {
    return this.#surface.capabilities;
  }

  instructions(asker: Asker): string {
    const texts = [this.#introduction?.() ?? "", this.#surface.instructions(asker)];
    return texts.filter((text) => text !== "").join("\n\n");
  }

  extensions(origin: Origin): Readonly<Record<string, unknown>> {
    return this.#surface.extensions?.(origin) ?? {};
  }

  async prepare(origin: Origin): Promise<void> {
    await this.#surface.prepare?.(origin);
  }

  tool(name: string, asker: Asker): Raw | undefined {
    return this.#surface.tool?.(name, asker);
  }

  lists(asker: Asker): ListStates {
    return this.#surface.lists?.(asker) ?? {};
  }

  loadMissing(origin: Origin): void {
    this.#surface.loadMissing?.(origin);
  }

  notified(method: string, params: Raw | undefined, origin: Origin): void {
    this.#surface.notified?.(method, params, origin);
  }
}
