/** Arguments that worked, kept as examples where the user wants that. Never results, never anything that looks like a secret, and only a few of each tool. */
import { join } from "node:path";
import { readIfThere, writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";
import { safeName } from "../home/safe-name.ts";
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { holdsSecret } from "../kernel/looks-secret.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";

const MOST_BYTES = 2_048;
const MOST_OF_TOOL = 5;
const MOST_TOOLS = 200;
const MOST_IDENTITIES = 8;
/** Calls that come close together are written down together. */
const WRITE_AFTER_MS = 1_000;

/** Newest last. */
type OfServer = Record<string, unknown[]>;
/** By identity: two projects may use one name for two servers. Newest last. */
type File = Record<string, OfServer>;

interface Known {
  readonly tools: Map<string, unknown[]>;
  changed: boolean;
}

export class Usage {
  readonly #home: string;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #known = new Map<string, Promise<Known>>();
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor({ home, log, clock }: { home: string; log: Log; clock: Clock }) {
    this.#home = home;
    this.#log = log;
    this.#clock = clock;
  }

  /** A call with these arguments worked. `secrets`: values that must not be kept, whatever they look like. */
  async worked(
    from: { server: string; identity: string; tool: string },
    args: Raw,
    secrets: readonly string[],
  ): Promise<void> {
    if (args.length > MOST_BYTES || args.length <= 2 || secrets.some((secret) => args.includes(secret)))
      return;
    const value = fromRaw(args);
    if (typeof value !== "object" || value === null || holdsSecret(value)) return;
    const known = await this.#knownOf(from.server, from.identity);
    if (!add(known.tools, from.tool, value)) return;
    known.changed = true;
    this.#timer ??= this.#clock.after(WRITE_AFTER_MS, () => void this.flush());
  }

  /** Newest first. */
  async examplesOf(server: string, identity: string, tool: string): Promise<readonly unknown[]> {
    const { tools } = await this.#knownOf(server, identity);
    return [...(tools.get(tool) ?? [])].reverse();
  }

  /** Resolves when all is written down. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#writeAll());
    return this.#writing;
  }

  #knownOf(server: string, identity: string): Promise<Known> {
    const key = JSON.stringify([server, identity]);
    let known = this.#known.get(key);
    if (!known) {
      known = this.#read(server).then((file) => ({
        tools: new Map(Object.entries(file[identity] ?? {})),
        changed: false,
      }));
      this.#known.set(key, known);
    }
    return known;
  }

  async #read(server: string): Promise<File> {
    try {
      const text = await readIfThere(this.#path(server));
      return text === undefined ? {} : checked(JSON.parse(text));
    } catch {
      return {};
    }
  }

  async #writeAll(): Promise<void> {
    for (const [key, promised] of this.#known) {
      const known = await promised;
      if (!known.changed) continue;
      known.changed = false;
      const [server, identity] = JSON.parse(key) as [string, string];
      await this.#write(server, identity, known.tools).catch((error: Error) =>
        this.#log.warn(`examples of ${server} cannot be kept: ${error.message}`, { server }),
      );
    }
  }

  /** What others wrote meanwhile stays. */
  async #write(server: string, identity: string, tools: Map<string, unknown[]>): Promise<void> {
    const path = this.#path(server);
    await withLock(path, async () => {
      const { [identity]: before = {}, ...others } = await this.#read(server);
      const merged = new Map(Object.entries(before));
      for (const [tool, examples] of tools) for (const example of examples) add(merged, tool, example);
      const all = [...Object.entries(others), [identity, Object.fromEntries(merged)] as const];
      await writeAtomic(path, JSON.stringify(Object.fromEntries(all.slice(-MOST_IDENTITIES))), {
        durable: false,
      });
    });
  }

  #path(server: string): string {
    return join(this.#home, "examples", `${safeName(server)}.json`);
  }
}

/** False if it was known already. */
function add(tools: Map<string, unknown[]>, tool: string, example: unknown): boolean {
  const known = tools.get(tool) ?? [];
  const written = JSON.stringify(example);
  if (known.some((other) => JSON.stringify(other) === written)) return false;
  tools.delete(tool);
  tools.set(tool, [...known, example].slice(-MOST_OF_TOOL));
  for (const oldest of tools.keys()) {
    if (tools.size <= MOST_TOOLS) break;
    tools.delete(oldest);
  }
  return true;
}

/** Whatever is not of this form is left out. */
function checked(value: unknown): File {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([identity, tools]: [string, unknown]) => {
      if (typeof tools !== "object" || tools === null) return [];
      return [
        [identity, Object.fromEntries(Object.entries(tools).filter(([, list]) => Array.isArray(list)))],
      ];
    }),
  ) as File;
}
