/** The surface of one endpoint of a gateway: its instructions begin with a text of the operator, and its requests are counted. */
import type { Raw } from "../kernel/raw.ts";
import type { Room } from "../kernel/room.ts";
import type { ClientRequest, Surface } from "./surface.ts";

type Call<K extends keyof Surface> =
  NonNullable<Surface[K]> extends (...args: infer A) => unknown ? A : never;

export class EndpointSurface implements Surface {
  readonly #surface: Surface;
  readonly #introduction: () => string;
  readonly #room: Room;

  constructor(surface: Surface, { introduction, room }: { introduction: () => string; room: Room }) {
    this.#surface = surface;
    this.#introduction = introduction;
    this.#room = room;
  }

  get capabilities(): Surface["capabilities"] {
    return this.#surface.capabilities;
  }

  async prepare(...args: Call<"prepare">): Promise<void> {
    await this.#surface.prepare?.(...args);
  }

  instructions(...args: Call<"instructions">): string {
    return [this.#introduction(), this.#surface.instructions(...args)]
      .filter((text) => text !== "")
      .join("\n\n");
  }

  handle(request: ClientRequest): Promise<Raw> {
    return this.#room.serve(() => this.#surface.handle(request));
  }

  tool(...args: Call<"tool">) {
    return this.#surface.tool?.(...args);
  }

  lists(...args: Call<"lists">) {
    return this.#surface.lists?.(...args) ?? {};
  }

  learn(...args: Call<"learn">): void {
    this.#surface.learn?.(...args);
  }

  notified(...args: Call<"notified">): void {
    this.#surface.notified?.(...args);
  }
}
