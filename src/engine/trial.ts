/**
 * Starts a server only to see whether it runs and which tools it has. It cannot send requests to clients, and
 * is stopped afterwards.
 */

import { listTools } from "../catalog/list-tools.ts";
import type { Tool } from "../catalog/tool.ts";
import type { FleetParts } from "../child/fleet.ts";
import { LazyFleet } from "../child/lazy-fleet.ts";
import { ChildFailure } from "../child/link.ts";
import { emptyConfig } from "../config/check.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Origin } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { LOCAL } from "../kernel/principal.ts";
import { EMPTY_OBJECT } from "../kernel/raw.ts";
import { aborted, type Signal } from "../kernel/signal.ts";
import { withOutput } from "../kernel/with-output.ts";
import { NO_UPLINK } from "../rpc/no-uplink.ts";
import { entries } from "../rpc/slice.ts";

/** The origin of connections without a client. */
export const NO_CLIENT: Origin = {
  ...LOCAL,
  session: "trial",
  capabilities: EMPTY_OBJECT,
  uplink: NO_UPLINK,
};

/** Who tries a server may read what it printed. */
function told(error: unknown): unknown {
  const { cause } = error as Error;
  if (!MetaMcpError.is(error) || !(cause instanceof ChildFailure)) return error;
  return new MetaMcpError(error.code, withOutput(error.message, cause.output), error.context);
}

export class Trials {
  readonly #parts: Pick<FleetParts, "clock" | "log" | "connector">;
  readonly #running = new Set<LazyFleet>();

  constructor(parts: Pick<FleetParts, "clock" | "log" | "connector">) {
    this.#parts = parts;
  }

  /** Resolves with the tools. When it settles, no process of the server is left. */
  async run(spec: ServerSpec, signal: Signal): Promise<readonly Tool[]> {
    if (signal.aborted) throw signal.reason;
    let listed: Promise<readonly Tool[]> = Promise.resolve([]);
    const config = { ...emptyConfig("", {}), servers: new Map([[spec.name, spec]]) };
    const fleet = new LazyFleet(config, {
      ...this.#parts,
      eraOf: () => undefined,
      async onHandshake({ server }, { capabilities }, ask) {
        if (entries(capabilities).some(([name]) => name === "tools")) listed = listTools(server, ask);
        await listed;
      },
      onListChanged: () => {},
    });
    this.#running.add(fleet);
    try {
      await Promise.race([fleet.connect(spec.name, NO_CLIENT), aborted(signal)]);
      return await listed;
    } catch (error) {
      if (!signal.aborted) throw told(error);
      const [status] = fleet.status();
      throw status?.reason
        ? new Error(`${(error as Error).message}; ${status.reason}`, { cause: error })
        : error;
    } finally {
      await fleet.destroy();
      this.#running.delete(fleet);
    }
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#running].map((fleet) => fleet.destroy()));
  }
}
