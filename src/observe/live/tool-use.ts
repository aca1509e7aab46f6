/**
 * Counts calls per tool and their last use since the gateway started. Limited: the least recently used tools
 * are dropped first.
 */

export interface Use {
  readonly calls: number;
  /** Milliseconds since 1970. */
  readonly lastAt: number;
}

export type ToolUses = Readonly<Record<string, Readonly<Record<string, Use>>>>;

/** The use of a tool, counted in several places. Undefined if nobody used it. */
export function useOf(all: readonly ToolUses[], server: string, tool: string): Use | undefined {
  const uses = all.flatMap((uses) => (own(uses, server) && own(uses[server] ?? {}, tool)) ?? []);
  if (uses.length === 0) return undefined;
  return {
    calls: uses.reduce((total, { calls }) => total + calls, 0),
    lastAt: Math.max(...uses.map(({ lastAt }) => lastAt)),
  };
}

function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
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

  /** By server and tool. */
  all(): ToolUses {
    const of = (tools: ReadonlyMap<string, Use>) => Object.fromEntries(tools);
    return Object.fromEntries([...this.#used].map(([server, tools]) => [server, of(tools)]));
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
