/** Arguments that worked, kept as they were written as examples where the user wants that. Never results, never anything that looks like a secret, and only a few of each tool. */
import { join } from "node:path";
import { readIfThere, writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";
import { safeName } from "../home/safe-name.ts";
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Raw } from "../kernel/raw.ts";
import { entries } from "../rpc/slice.ts";
import { containsSecret } from "./contains-secret.ts";
import { sameJson } from "./same.ts";
import { decodeUsage, encodeUsage, type ToolExamples, type UsageFile } from "./usage-file.ts";

const MOST_BYTES = 2_048;
const MOST_OF_TOOL = 5;
const MOST_TOOLS = 200;
const MOST_IDENTITIES = 8;
/** Calls that come close together are written down together. */
const WRITE_AFTER_MS = 1_000;

interface Known {
  readonly tools: Map<string, readonly Raw[]>;
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
    if (args.length > MOST_BYTES || entries(args).length === 0 || containsSecret(args, secrets)) return;
    const known = await this.#knownOf(from.server, from.identity);
    if (!add(known.tools, from.tool, args)) return;
    known.changed = true;
    this.#timer ??= this.#clock.after(WRITE_AFTER_MS, () => void this.flush());
  }

  /** Newest first. */
  async examplesOf(server: string, identity: string, tool: string): Promise<readonly Raw[]> {
    const { tools } = await this.#knownOf(server, identity);
    return (tools.get(tool) ?? []).toReversed();
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
        tools: new Map(file.get(identity)),
        changed: false,
      }));
      this.#known.set(key, known);
    }
    return known;
  }

  async #read(server: string): Promise<UsageFile> {
    try {
      const text = await readIfThere(this.#path(server));
      return text === undefined ? new Map() : decodeUsage(text);
    } catch {
      return new Map();
    }
  }

  async #writeAll(): Promise<void> {
    for (const [key, promised] of this.#known) {
      const known = await promised;
      if (!known.changed) continue;
      known.changed = false;
      const [server, identity] = JSON.parse(key) as [string, string];
      await this.#write(server, identity, known.tools).catch((error: Error) =>
        this.#log.warn(`examples of ${server} cannot be stored: ${error.message}`, { server }),
      );
    }
  }

  /** What others wrote meanwhile stays. */
  async #write(server: string, identity: string, tools: ToolExamples): Promise<void> {
    const path = this.#path(server);
    await withLock(path, async () => {
      const file = new Map(await this.#read(server));
      const merged = new Map(file.get(identity));
      for (const [tool, examples] of tools) for (const example of examples) add(merged, tool, example);
      file.delete(identity);
      const newest = new Map([...file, [identity, merged] as const].slice(-MOST_IDENTITIES));
      await writeAtomic(path, encodeUsage(newest).toString(), { durable: false });
    });
  }

  #path(server: string): string {
    return join(this.#home, "examples", `${safeName(server)}.json`);
  }
}

/** False if it was known already. */
function add(tools: Map<string, readonly Raw[]>, tool: string, example: Raw): boolean {
  const known = tools.get(tool) ?? [];
  if (known.some((other) => sameJson(other, example))) return false;
  tools.delete(tool);
  tools.set(tool, [...known, example].slice(-MOST_OF_TOOL));
  for (const oldest of tools.keys()) {
    if (tools.size <= MOST_TOOLS) break;
    tools.delete(oldest);
  }
  return true;
}
