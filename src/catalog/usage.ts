/**
 * Stores arguments of successful calls as examples, if the user turned that on. Stores no results and nothing
 * that looks like a secret, and only a few examples per tool.
 */
import { join } from "node:path";
import { readIfThere, writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";
import { safeName } from "../home/safe-name.ts";
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { isSecretName, isSecretText } from "../kernel/looks-secret.ts";
import { asRaw, type Raw } from "../kernel/raw.ts";
import { elements, entries, isObject, isString, joinObject, textAt } from "../rpc/slice.ts";
import { isArray, joinArray } from "./json-array.ts";
import { sameJson } from "./same.ts";

const MAX_BYTES = 2_048;
const MAX_PER_TOOL = 5;
const MAX_TOOLS = 200;
const MAX_IDENTITIES = 8;
/** Examples of this period are written together. */
const WRITE_AFTER_MS = 1_000;

interface ServerExamples {
  readonly tools: Map<string, readonly Raw[]>;
  changed: boolean;
}

export class Usage {
  readonly #home: string;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #known = new Map<string, Promise<ServerExamples>>();
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor({ home, log, clock }: { home: string; log: Log; clock: Clock }) {
    this.#home = home;
    this.#log = log;
    this.#clock = clock;
  }

  /** Records the arguments of a successful call. `secrets`: values that must not be stored. */
  async worked(
    from: { server: string; identity: string; tool: string },
    args: Raw,
    secrets: readonly string[],
  ): Promise<void> {
    if (args.length > MAX_BYTES || entries(args).length === 0 || containsSecret(args, secrets)) return;
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

  /** Resolves when everything is written. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#writeAll());
    return this.#writing;
  }

  #knownOf(server: string, identity: string): Promise<ServerExamples> {
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

  /** Merges with examples that other processes have written. */
  async #write(server: string, identity: string, tools: ToolExamples): Promise<void> {
    const path = this.#path(server);
    await withLock(path, async () => {
      const file = new Map(await this.#read(server));
      const merged = new Map(file.get(identity));
      for (const [tool, examples] of tools) for (const example of examples) add(merged, tool, example);
      file.delete(identity);
      const newest = new Map([...file, [identity, merged] as const].slice(-MAX_IDENTITIES));
      await writeAtomic(path, encodeUsage(newest).toString(), { durable: false });
    });
  }

  #path(server: string): string {
    return join(this.#home, "examples", `${safeName(server)}.json`);
  }
}

/** Returns false if the example exists already. */
function add(tools: Map<string, readonly Raw[]>, tool: string, example: Raw): boolean {
  const known = tools.get(tool) ?? [];
  if (known.some((other) => sameJson(other, example))) return false;
  tools.delete(tool);
  tools.set(tool, [...known, example].slice(-MAX_PER_TOOL));
  for (const oldest of tools.keys()) {
    if (tools.size <= MAX_TOOLS) break;
    tools.delete(oldest);
  }
  return true;
}

/** Newest last. */
type ToolExamples = ReadonlyMap<string, readonly Raw[]>;
/** By identity, because two projects may use one name for different servers. Newest last. */
type UsageFile = ReadonlyMap<string, ToolExamples>;

/** Throws if the text is not JSON. Skips parts that do not have this format. */
function decodeUsage(text: string): UsageFile {
  JSON.parse(text);
  // A user may have reformatted the file. Messages are sent as single lines, so an example must not contain a
  // line break.
  const file = asRaw(Buffer.from(text.trim().replaceAll(/[\r\n]/g, " ")));
  return new Map(
    entries(file)
      .filter(([, tools]) => isObject(tools))
      .map(([identity, tools]) => [identity, examplesIn(tools)]),
  );
}

function examplesIn(tools: Raw): ToolExamples {
  return new Map(
    entries(tools)
      .filter(([, list]) => isArray(list))
      .map(([tool, list]) => [tool, elements(list).filter(isObject)]),
  );
}

function encodeUsage(file: UsageFile): Raw {
  return joinObject(
    [...file].map(([identity, tools]) => [
      identity,
      joinObject([...tools].map(([tool, examples]) => [tool, joinArray(examples)])),
    ]),
  );
}

/** `secrets`: known secret values, in addition to what looks like one. */
function containsSecret(raw: Raw, secrets: readonly string[]): boolean {
  const containsKnown = (text: string): boolean => secrets.some((secret) => text.includes(secret));
  const isSecret = (part: Raw): boolean => {
    if (isArray(part)) return elements(part).some(isSecret);
    if (isObject(part))
      return entries(part).some(
        ([name, value]) => isSecretName(name) || isSecretText(name) || containsKnown(name) || isSecret(value),
      );
    if (!isString(part)) return containsKnown(part.toString());
    const text = textAt(part, 0);
    return isSecretText(text) || containsKnown(text);
  };
  // A secret may span several values, so the raw text is checked too.
  return containsKnown(raw.toString()) || isSecret(raw);
}
