/** How often each tool was called, and when last, since the gateway started. Bounded: what was used longest ago is forgotten first. */

export interface Use {
  readonly calls: number;
  /** Milliseconds since 1970. */
  readonly lastAt: number;
}

interface Counted {
  calls: number;
  lastAt: number;
}

const MOST_TOOLS = 20_000;
/** So many go at once: finding the oldest means looking at all. */
const FORGOTTEN = 2_000;

export class ToolUse {
  /** Since when is counted. */
  readonly since = Date.now();
  /** By server and tool. */
  readonly #used = new Map<string, Map<string, Counted>>();
  #tools = 0;

  add(server: string, tool: string, at: number): void {
    const found = this.#used.get(server)?.get(tool);
    if (found) {
      found.calls += 1;
      found.lastAt = at;
      return;
    }
    if (this.#tools >= MOST_TOOLS) this.#forget();
    const tools = this.#used.get(server) ?? new Map<string, Counted>();
    this.#used.set(server, tools.set(tool, { calls: 1, lastAt: at }));
    this.#tools += 1;
  }

  of(server: string, tool: string): Use | undefined {
    return this.#used.get(server)?.get(tool);
  }

  #forget(): void {
    const all = [...this.#used].flatMap(([server, tools]) =>
      [...tools].map(([tool, { lastAt }]) => ({ server, tool, lastAt })),
    );
    all.sort((a, b) => a.lastAt - b.lastAt);
    for (const { server, tool } of all.slice(0, FORGOTTEN)) {
      const tools = this.#used.get(server);
      tools?.delete(tool);
      if (tools?.size === 0) this.#used.delete(server);
    }
    this.#tools -= FORGOTTEN;
  }
}
