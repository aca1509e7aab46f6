/**
 * All served endpoints. Opens each at its first use, and updates and closes them with the compiled objects.
 */
import type { Compiled, CompiledEndpoint } from "../../gateway/compile.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Session } from "../../session/session.ts";
import type { Received } from "../../transport/http/http-server.ts";
import { ServedEndpoint, type ServedParts } from "./served-endpoint.ts";

export class ServedEndpoints {
  readonly #parts: ServedParts;
  /** By uuid. */
  #wanted: ReadonlyMap<string, CompiledEndpoint> = new Map();
  /** Those that were used, by uuid. */
  readonly #served = new Map<string, ServedEndpoint>();

  constructor(parts: ServedParts) {
    this.#parts = parts;
  }

  /** Does not affect clients of unchanged endpoints. */
  apply({ paths }: Pick<Compiled, "paths">): void {
    this.#wanted = new Map([...paths.values()].map((compiled) => [compiled.object.uuid, compiled]));
    for (const [uuid, served] of this.#served) {
      const compiled = this.#wanted.get(uuid);
      if (compiled && served.update(compiled)) continue;
      served.end();
      this.#served.delete(uuid);
    }
  }

  /** Lists may have changed: notifies the clients whose lists did. Resolves with their number. */
  async changed(): Promise<number> {
    const told = await Promise.all([...this.#served.values()].map((served) => served.changed()));
    return told.reduce((sum, clients) => sum + clients, 0);
  }

  route(uuid: string, subpath: string, received: Received): boolean {
    return this.of(uuid)?.route(subpath, received) ?? false;
  }

  /** Undefined if the endpoint is not served. */
  of(uuid: string): ServedEndpoint | undefined {
    const served = this.#served.get(uuid);
    const compiled = this.#wanted.get(uuid);
    if (served || !compiled) return served;
    const opened = new ServedEndpoint(compiled, this.#parts);
    this.#served.set(uuid, opened);
    return opened;
  }

  /** Ends all sessions and streams of the principal. */
  endOf(principal: Principal): void {
    for (const served of this.#served.values()) served.endOf(principal);
  }

  /** Ends all sessions and streams that were opened with tokens of other issuers than these. */
  endOfOtherIssuers(trusted: ReadonlySet<string>): void {
    for (const served of this.#served.values()) served.endOfOtherIssuers(trusted);
  }

  /**
   * The rights of this account may have changed: ends its sessions and streams at endpoints that it may no
   * longer use.
   */
  endWithoutRight(account: string): void {
    for (const served of this.#served.values()) served.endWithoutRight(account);
  }

  /** By uuid of the endpoint. */
  get clients(): ReadonlyMap<string, readonly Session[]> {
    return new Map([...this.#served].map(([uuid, served]) => [uuid, served.clients]));
  }

  /** The ids of sessions that can go on at another replica. */
  get movable(): readonly string[] {
    return [...this.#served.values()].flatMap(({ movable }) => movable);
  }

  /** Ends sessions here that go on at other replicas. Returns how many are left. */
  release(which: (session: Session) => boolean): number {
    return [...this.#served.values()].reduce((left, served) => left + served.release(which), 0);
  }

  /** Returns false if there is no such session. */
  endSession(endpoint: string, session: string): boolean {
    return this.#served.get(endpoint)?.endSession(session) ?? false;
  }

  end(): void {
    for (const served of this.#served.values()) served.end();
    this.#served.clear();
    this.#wanted = new Map();
  }
}
