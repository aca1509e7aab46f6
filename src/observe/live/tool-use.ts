/** How often each tool was called, and when last, since the gateway started. Bounded: what was used longest ago is forgotten first. */

export interface Use {
  readonly calls: number;
  /** Milliseconds since 1970. */
  readonly lastAt: number;
}

const MOST_TOOLS = 20_000;

export class ToolUse {
  /** Since when is counted. */
  readonly since = Date.now();
  /** In the order of their last use. */
  readonly #used = new Map<string, Use>();

  add(server: string, tool: string, at: number): void {
    const key = keyOf(server, tool);
    const calls = (this.#used.get(key)?.calls ?? 0) + 1;
    this.#used.delete(key);
    this.#used.set(key, { calls, lastAt: at });
    if (this.#used.size <= MOST_TOOLS) return;
    const [oldest] = this.#used.keys();
    if (oldest !== undefined) this.#used.delete(oldest);
  }

  of(server: string, tool: string): Use | undefined {
    return this.#used.get(keyOf(server, tool));
  }
}

function keyOf(server: string, tool: string): string {
  return `${server}\n${tool}`;
}
