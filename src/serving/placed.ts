/** Joins the servers that may run only once to the other replicas: finds them there, and serves them here. */
import type { Engine } from "../engine/engine.ts";
import type { PlacedServers } from "../engine/placed-servers.ts";
import type { GatewayControl } from "../gateway/control.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { FROM } from "../replica/hop-protocol.ts";
import type { Members } from "../replica/members.ts";
import { PLACED, Placements } from "../replica/placements.ts";
import type { Sharing } from "../replica/sharing.ts";
import type { Store } from "../store/store.ts";

interface PlacedParts {
  readonly table: NonNullable<Store["placements"]>;
  readonly members: Members;
  readonly sharing: Sharing | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Serving {
  readonly engine: Pick<Engine, "fleet" | "catalog">;
  readonly control: Pick<GatewayControl, "connect">;
}

export class Placed {
  readonly placements: Placements;
  readonly #parts: PlacedParts;
  #servers: PlacedServers | undefined;

  constructor(parts: PlacedParts) {
    this.#parts = parts;
    this.placements = new Placements(parts);
  }

  /** From now on other replicas reach the servers that run here. */
  async serve({ engine: { fleet, catalog }, control }: Serving): Promise<void> {
    const { sharing, clock } = this.#parts;
    if (!sharing) return;
    this.placements.onRestart((server) => control.connect(server));
    const { PlacedServers: Servers } = await import("../engine/placed-servers.ts");
    const servers = new Servers({
      fleet,
      clock,
      runs: (server) => this.placements.runs(server),
      taskOf(server, name) {
        const support = catalog.snapshot.tool(server, name)?.taskSupport;
        return support && { support, request: undefined };
      },
    });
    this.#servers = servers;
    sharing.routes.set(PLACED, (request, response) => {
      const server = serverIn(request.url ?? "");
      if (server === undefined) response.writeHead(404).end();
      else servers.handle(server, String(request.headers[FROM]), { request, response });
    });
  }

  gone(replica: string): void {
    this.placements.gone(replica);
    this.#servers?.gone(replica);
  }

  async close(): Promise<void> {
    await this.placements.close();
    this.#servers?.end();
  }
}

/** Undefined if the path has a broken escape. */
function serverIn(path: string): string | undefined {
  try {
    return decodeURIComponent(path.slice(PLACED.length));
  } catch {
    return undefined;
  }
}
