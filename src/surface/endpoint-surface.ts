/**
 * The surface of one endpoint of a gateway. Puts the operator's text before the instructions and counts requests in
 * flight.
 */

import type { ConcurrencyLimiter } from "../kernel/concurrency-limiter.ts";
import type { Raw } from "../kernel/raw.ts";
import type { ClientRequest, Surface } from "./surface.ts";

type Args<K extends keyof Surface> =
  NonNullable<Surface[K]> extends (...args: infer A) => unknown ? A : never;

export class EndpointSurface implements Surface {
  readonly #surface: Surface;
  readonly #introduction: () => string;
  readonly #limiter: ConcurrencyLimiter;

  constructor(
    surface: Surface,
    { introduction, limiter }: { introduction: () => string; limiter: ConcurrencyLimiter },
  ) {
    this.#surface = surface;
    this.#introduction = introduction;
    this.#limiter = limiter;
  }

  get capabilities(): Surface["capabilities"] {
    return this.#surface.capabilities;
  }

  async prepare(...args: Args<"prepare">): Promise<void> {
    await this.#surface.prepare?.(...args);
  }

  instructions(...args: Args<"instructions">): string {
    return [this.#introduction(), this.#surface.instructions(...args)]
      .filter((text) => text !== "")
      .join("\n\n");
  }

  handle(request: ClientRequest): Promise<Raw> {
    return this.#limiter.serve(() => this.#surface.handle(request));
  }

  tool(...args: Args<"tool">) {
    return this.#surface.tool?.(...args);
  }

  lists(...args: Args<"lists">) {
    return this.#surface.lists?.(...args) ?? {};
  }

  loadMissing(...args: Args<"loadMissing">): void {
    this.#surface.loadMissing?.(...args);
  }

  notified(...args: Args<"notified">): void {
    this.#surface.notified?.(...args);
  }
}
