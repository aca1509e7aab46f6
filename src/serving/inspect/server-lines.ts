/** The last lines that each server wrote on stderr. */

const MAX_LINES = 200;

export class ServerLines {
  readonly #lines = new Map<string, string[]>();

  add(server: string, line: string): void {
    const lines = this.#lines.get(server) ?? [];
    this.#lines.set(server, lines);
    lines.push(line);
    if (lines.length > MAX_LINES) lines.shift();
  }

  of(server: string): readonly string[] {
    return [...(this.#lines.get(server) ?? [])];
  }

  /** Drops the lines of all other servers. */
  keep(servers: ReadonlyMap<string, unknown>): void {
    for (const server of this.#lines.keys()) if (!servers.has(server)) this.#lines.delete(server);
  }
}
