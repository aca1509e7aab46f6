/** Counts calls per tool and their last use since the gateway started. Limited: the least recently used tools are dropped first. */

export interface Use {
  readonly calls: number;
  /** Milliseconds since 1970. */
  readonly lastAt: number;
}

interface MutableUse {
  calls: number;
  lastAt: number;
}

const MAX_TOOLS = 20_000;
/** Drops many at once, because finding the oldest needs a look at all. */
const DROPPED = 2_000;

export class ToolUse {
  /** Start of the count. */
  readonly since = Date.now();
  /** By server and tool. */
  readonly #used = new Map<string, Map<string, MutableUse>>();
  #tools = 0;

  add(server: string, tool: string, at: number): void {
    const found = this.#used.get(server)?.get(tool);
    if (found) {
      found.calls += 1;
      found.lastAt = at;
      return;
    }
    if (this.#tools >= MAX_TOOLS) this.#dropOldest();
    const tools = this.#used.get(server) ?? new Map<string, MutableUse>();
    this.#used.set(server, tools.set(tool, { calls: 1, lastAt: at }));
    this.#tools += 1;
  }

  of(server: string, tool: string): Use | undefined {
    return this.#used.get(server)?.get(tool);
  }

  #dropOldest(): void {
    const all = [...this.#used].flatMap(([server, tools]) =>
      [...tools].map(([tool, { lastAt }]) => ({ server, tool, lastAt })),
    );
    all.sort((a, b) => a.lastAt - b.lastAt);
    for (const { server, tool } of all.slice(0, DROPPED)) {
      const tools = this.#used.get(server);
      tools?.delete(tool);
      if (tools?.size === 0) this.#used.delete(server);
    }
    this.#tools -= DROPPED;
  }
}
