/** The last state changes of the connections of each server, and since when it has its current state. */
import type { ConnectionStatus, StatusEntry } from "../../gateway/control.ts";
import type { ConnectionChanged, Events } from "../../kernel/events.ts";

const MAX_ENTRIES = 50;

interface Known {
  /** Newest last. */
  readonly entries: StatusEntry[];
  /** The times of the last events, in milliseconds since 1970. */
  readonly at: { connected?: number; closed?: number; connecting?: number };
  /** Set if the server failed and has not been connected since. */
  down: { readonly since: number; readonly login: boolean; readonly output: string | undefined } | undefined;
}

function latest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

export class ServerHistory {
  readonly #known = new Map<string, Known>();

  constructor(events: Pick<Events, "on">) {
    events.on((event) => {
      if (event.type === "connection") this.#record(event);
    });
  }

  /** Newest first. */
  of(server: string): readonly StatusEntry[] {
    return this.#known.get(server)?.entries.toReversed() ?? [];
  }

  /** Since when the server has this state; undefined if nothing happened since the gateway started. */
  since(server: string, state: ConnectionStatus["state"]): string | undefined {
    const known = this.#known.get(server);
    if (!known) return undefined;
    const { at, down } = known;
    const began = {
      failed: down?.since,
      connecting: at.connecting,
      active: at.connected,
      idle: latest(at.connected, at.closed),
      closed: at.closed,
      disabled: at.closed,
    }[state];
    return began === undefined ? undefined : new Date(began).toISOString();
  }

  /** Whether the server fails because a login is missing. */
  needsLogin(server: string): boolean {
    return this.#known.get(server)?.down?.login ?? false;
  }

  /** What its process printed before it failed. */
  output(server: string): string | undefined {
    return this.#known.get(server)?.down?.output;
  }

  forget(server: string): void {
    this.#known.delete(server);
  }

  #record({ server, state, at, reason, output, pid, login = false }: ConnectionChanged): void {
    const known = this.#known.get(server) ?? { entries: [], at: {}, down: undefined };
    this.#known.set(server, known);
    known.entries.push({
      at: new Date(at).toISOString(),
      state,
      ...(reason !== undefined && { reason }),
      ...(output !== undefined && { output }),
      ...(pid !== undefined && { pid }),
      ...(login && { login }),
    });
    if (known.entries.length > MAX_ENTRIES) known.entries.shift();
    if (state === "connecting" || state === "closed") known.at[state] = at;
    if (state === "connected") {
      known.at.connected = at;
      known.down = undefined;
    }
    // The time of the first failure counts. Later failures are only repeated attempts.
    if (state === "failed") known.down = { since: known.down?.since ?? at, login, output };
  }
}
