/** The last lines that each server wrote on stderr. */

const MAX_LINES = 200;

export interface ServerLine {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
}

export class ServerLines {
  readonly #lines = new Map<string, ServerLine[]>();

  add(server: string, text: string): void {
    const lines = this.#lines.get(server) ?? [];
    this.#lines.set(server, lines);
    lines.push({ at: Date.now(), text });
    if (lines.length > MAX_LINES) lines.shift();
  }

  of(server: string): readonly ServerLine[] {
    return [...(this.#lines.get(server) ?? [])];
  }

  /** Drops the lines of all other servers. */
  keep(servers: ReadonlyMap<string, unknown>): void {
    for (const server of this.#lines.keys()) if (!servers.has(server)) this.#lines.delete(server);
  }
}
