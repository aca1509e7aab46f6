/**
 * Connects servers again after a change, and reports how it ended: to clients and to the steps of the update.
 */
import { sameDial } from "../../config/identity.ts";
import type { Engine } from "../../engine/engine.ts";
import { type Compiled, namespacesWith } from "../../gateway/compile.ts";
import type { ConnectionStatus } from "../../gateway/control.ts";
import { changesConnection } from "../../gateway/server-entry.ts";
import type { ChangeRow } from "../../gateway/settle.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Placements } from "../../replica/placements.ts";
import type { ServedEndpoints } from "../site/served-endpoints.ts";
import type { ServerReachability } from "./reachability.ts";
import type { UpdateSteps } from "./update-steps.ts";

export interface ReconnectParts {
  readonly engine: Pick<Engine, "ensureConnected">;
  readonly endpoints: Pick<ServedEndpoints, "changed">;
  readonly reach: ServerReachability;
  readonly steps: UpdateSteps;
  readonly clock: Clock;
  readonly compiled: () => Compiled;
  readonly statusOf: (server: string) => ConnectionStatus;
  readonly placement: Pick<Placements, "restart"> | undefined;
}

export interface Reconnect {
  readonly uuid: string;
  /** The connection settings are the same, so the engine would keep the old connection. */
  readonly anew: boolean;
  readonly ended: ReturnType<ServerReachability["begin"]>;
}

/** How long the answer to a change waits for servers. */
const PATIENCE_MS = 10_000;

export class Reconnects {
  readonly #parts: ReconnectParts;

  constructor(parts: ReconnectParts) {
    this.#parts = parts;
  }

  /**
   * Marks the servers that `rows` changes as connecting. Must run before the engine gets the new config: the
   * engine reconnects a server with other connection settings by itself.
   */
  begin(rows: readonly ChangeRow[], before: Compiled, after: Compiled): readonly Reconnect[] {
    return rows
      .filter(({ op, fields = [] }) => op === "update" && changesConnection(fields))
      .filter(({ uuid }) => after.servers.get(uuid)?.spec)
      .map(({ uuid }) => ({
        uuid,
        anew: isSameDial(before, after, uuid),
        ended: this.#parts.reach.begin(uuid),
      }));
  }

  /** Resolves with the state of each server once all are connected, have failed, or 10 s have passed. */
  async run(reconnects: readonly Reconnect[]): Promise<ReadonlyMap<string, ConnectionStatus>> {
    await Promise.all(reconnects.map((reconnect) => this.#connect(reconnect)));
    return new Map(reconnects.map(({ uuid }) => [uuid, this.#parts.statusOf(uuid)]));
  }

  /** Replaces the connection of one server. */
  async renew(uuid: string): Promise<void> {
    const ended = this.#parts.reach.begin(uuid);
    const elsewhere = (await this.#parts.placement?.restart(uuid)) ?? false;
    await this.#connect({ uuid, anew: !elsewhere, ended });
  }

  #connect({ uuid, anew, ended }: Reconnect): Promise<void> {
    const { engine, endpoints, steps, clock, compiled, statusOf } = this.#parts;
    const finish = (fault?: string): void => {
      if (!ended(fault)) return;
      const told = endpoints.changed();
      if (fault === undefined) steps.connected(uuid, statusOf(uuid).toolCount);
      else steps.failed(uuid, fault);
      steps.compiled(uuid, namespacesWith(compiled(), uuid), told);
    };
    const connecting = engine.ensureConnected(uuid, anew).then(
      () => finish(),
      (error: Error) => finish(error.message),
    );
    return new Promise((resolve) => {
      const timer = clock.after(PATIENCE_MS, resolve);
      void connecting.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}

function isSameDial(before: Compiled, after: Compiled, uuid: string): boolean {
  const [was, is] = [before.servers.get(uuid)?.spec, after.servers.get(uuid)?.spec];
  return was !== undefined && is !== undefined && sameDial(was, is);
}
