/** All served endpoints. Opens, updates and closes them according to the compiled objects. */
import type { Compiled } from "../gateway/compile.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Session } from "../session/session.ts";
import type { Received } from "../transport/http/http-server.ts";
import { ServedEndpoint, type ServedParts } from "./served-endpoint.ts";

export class ServedEndpoints {
  readonly #parts: ServedParts;
  /** By uuid. */
  readonly #served = new Map<string, ServedEndpoint>();

  constructor(parts: ServedParts) {
    this.#parts = parts;
  }

  /** Does not affect clients of unchanged endpoints. */
  apply({ paths }: Pick<Compiled, "paths">): void {
    const wanted = new Map([...paths.values()].map((compiled) => [compiled.object.uuid, compiled]));
    for (const [uuid, served] of this.#served) {
      const compiled = wanted.get(uuid);
      if (compiled && served.update(compiled)) continue;
      served.end();
      this.#served.delete(uuid);
    }
    for (const [uuid, compiled] of wanted)
      if (!this.#served.has(uuid)) this.#served.set(uuid, new ServedEndpoint(compiled, this.#parts));
  }

  /** Lists may have changed: notifies the clients whose lists did. Resolves with their number. */
  async changed(): Promise<number> {
    const told = await Promise.all([...this.#served.values()].map((served) => served.changed()));
    return told.reduce((sum, clients) => sum + clients, 0);
  }

  route(uuid: string, subpath: string, received: Received): boolean {
    return this.#served.get(uuid)?.route(subpath, received) ?? false;
  }

  /** Undefined if the endpoint is not served. */
  of(uuid: string): ServedEndpoint | undefined {
    return this.#served.get(uuid);
  }

  /** Ends all sessions and streams of the principal. */
  endOf(principal: Principal): void {
    for (const served of this.#served.values()) served.endOf(principal);
  }

  /** The rights of this account may have changed: ends its sessions and streams at endpoints that it may no longer use. */
  endWithoutRight(account: string): void {
    for (const served of this.#served.values()) served.endWithoutRight(account);
  }

  /** By uuid of the endpoint. */
  get clients(): ReadonlyMap<string, readonly Session[]> {
    return new Map([...this.#served].map(([uuid, served]) => [uuid, served.clients]));
  }

  /** Returns false if there is no such session. */
  endSession(endpoint: string, session: string): boolean {
    return this.#served.get(endpoint)?.endSession(session) ?? false;
  }

  end(): void {
    for (const served of this.#served.values()) served.end();
    this.#served.clear();
  }
}
