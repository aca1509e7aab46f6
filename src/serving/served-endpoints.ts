/** All endpoints that are served at the moment: opened, kept up to date and closed as the objects say. */
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

  /** Clients of endpoints that did not change notice nothing. */
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

  /** What clients see may have changed: who sees something else is told. Resolves with how many were. */
  async changed(): Promise<number> {
    const told = await Promise.all([...this.#served.values()].map((served) => served.changed()));
    return told.reduce((sum, clients) => sum + clients, 0);
  }

  route(uuid: string, way: string, received: Received): boolean {
    return this.#served.get(uuid)?.route(way, received) ?? false;
  }

  /** Undefined: it is not served. */
  of(uuid: string): ServedEndpoint | undefined {
    return this.#served.get(uuid);
  }

  /** All sessions and streams of this principal end. */
  endOf(principal: Principal): void {
    for (const served of this.#served.values()) served.endOf(principal);
  }

  /** By uuid of the endpoint. */
  get clients(): ReadonlyMap<string, readonly Session[]> {
    return new Map([...this.#served].map(([uuid, served]) => [uuid, served.clients]));
  }

  /** False: there is no such session. */
  endSession(endpoint: string, session: string): boolean {
    return this.#served.get(endpoint)?.endSession(session) ?? false;
  }

  end(): void {
    for (const served of this.#served.values()) served.end();
    this.#served.clear();
  }
}
