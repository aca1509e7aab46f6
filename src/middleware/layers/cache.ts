/**
 * Layer `cache`: keeps results of read-only tools for a time. Identical calls at the same time share one
 * call. Errors are not cached.
 */
import { compileGlob } from "../../config/glob.ts";
import type { Call, Handler } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import { Lru } from "../../kernel/lru.ts";
import { perObject } from "../../kernel/per-object.ts";
import { EMPTY_OBJECT, fromRaw, kept, type Raw } from "../../kernel/raw.ts";
import { RESTARTED } from "../../kernel/restarted.ts";
import { CallSignal, unlessAborted } from "../../kernel/signal.ts";
import { sortedKeys } from "../../kernel/sorted-keys.ts";
import { qualifiedName, type ToolFacts } from "../../kernel/tool-facts.ts";
import { repeatedKey } from "../../rpc/repeated-key.ts";
import { member, mentions } from "../../rpc/slice.ts";
import { GLOBS } from "../globs.ts";
import type { Inside, LayerKind, PlacedLayer } from "../layer.ts";
import { ifCurrent } from "../permission.ts";
import { isRepeatable } from "../repeatable.ts";
import { msOf, TIME, timeProblems } from "../times.ts";

interface Options {
  readonly tools?: readonly string[];
  readonly ttlMs: unknown;
  readonly by: "principal" | "shared";
  readonly maxBytes: number;
}

const LARGEST_ARGUMENTS = 65_536;
const MAX_ENTRIES = 10_000;

/** A result, and the arguments that the server got, after the inner layers changed them. */
interface CachedResult {
  readonly result: Raw;
  readonly sent: Raw | undefined;
}

interface CacheEntry extends CachedResult {
  readonly until: number;
}

export const cache: LayerKind = {
  summary: "Answer repeated calls of read-only tools from memory.",
  schema: {
    properties: {
      tools: { ...GLOBS, description: "only these tools: globs for server:tool" },
      ttlMs: { ...TIME, description: `how long an answer is kept: ${TIME.description}` },
      by: {
        enum: ["principal", "shared"],
        default: "principal",
        description: "principal: each caller gets only its own answers; shared: callers share them",
      },
      maxBytes: {
        type: "integer",
        minimum: 1,
        default: 16_777_216,
        description: "size of all kept answers",
      },
    },
    required: ["ttlMs"],
  },
  check: (options) => timeProblems(options, ["ttlMs"]),
  answers: true,
  compile(given, { clock }) {
    const options = given as unknown as Options;
    const isSelected = toolSelection(options.tools);
    const store = new Store(options, clock);
    const flights = new Map<string, Flight>();
    const pipelineIds = new PipelineIds();
    const keyFor = (call: Call, pipeline: string): string | undefined =>
      cacheable(call, isSelected) ? keyOf(call, options.by, pipeline) : undefined;
    return {
      waits: true,
      explain(call, inside) {
        const key = keyFor(call, pipelineIds.of(inside));
        const known = key === undefined ? undefined : store.get(key);
        return known && { effect: "answer", reason: "the answer is known" };
      },
      call(next, inside) {
        const pipeline = pipelineIds.of(inside);
        return (call) => {
          const key = keyFor(call, pipeline);
          if (key === undefined) return next(call);
          const known = store.get(key);
          if (known) return Promise.resolve(answered(call, known));
          const flight = flights.get(key) ?? new Flight(call, next, store, key);
          if (!flights.has(key)) {
            flights.set(key, flight);
            void flight.over.then(() => flights.delete(key));
          }
          return flight.join(call, next);
        };
      },
    };
  },
};

/**
 * Ids of the inner pipelines. Inner layers may change arguments and results, and differ by endpoint and over
 * time. A cached result is used only for calls that would pass the same inner layers.
 */
class PipelineIds {
  readonly #numbers = new WeakMap<PlacedLayer, number>();
  #last = 0;

  of(inside: Inside = []): string {
    return inside.map((layer) => this.#numberOf(layer)).join();
  }

  #numberOf(layer: PlacedLayer): number {
    const number = this.#numbers.get(layer) ?? ++this.#last;
    this.#numbers.set(layer, number);
    return number;
  }
}

function toolSelection(tools: Options["tools"]): (tool: ToolFacts) => boolean {
  const globs = tools?.map(compileGlob);
  return perObject((tool) => globs?.some((matches) => matches(qualifiedName(tool))) ?? true);
}

function cacheable(call: Call, isSelected: (tool: ToolFacts) => boolean): boolean {
  const { facts } = call;
  return facts !== undefined && isRepeatable(call) && isSelected(facts);
}

/**
 * Undefined if the call cannot be cached. The key contains the account if the server uses a credential per
 * account.
 */
function keyOf(call: Call, by: Options["by"], pipeline: string): string | undefined {
  const args = member(call.params, "arguments") ?? EMPTY_OBJECT;
  if (args.length > LARGEST_ARGUMENTS || repeatedKey(args) !== undefined) return undefined;
  const { id, actor } = call.origin.principal;
  // An administrator who tries a call as another account must not get that account's cached results.
  const who = by === "shared" && !call.facts?.perAccount ? [] : [id, actor?.id];
  return JSON.stringify([who, pipeline, call.server, call.tool, canonical(args)]);
}

/** Equal for equal JSON values. Numbers that would lose digits when parsed are compared as text. */
function canonical(args: Raw): string {
  const text = args.toString();
  if (/\d{16,}|\d[eE]/.test(text)) return text;
  return JSON.stringify(fromRaw(args), sortedKeys);
}

/**
 * Records the arguments that the server got for this result, not those of the caller: inner layers may have
 * masked them.
 */
function answered({ trail }: Call, { result, sent }: CachedResult): Raw {
  if (!trail) return result;
  trail.cached = true;
  if (sent) trail.arguments = sent;
  return result;
}

class Store {
  readonly #options: Options;
  readonly #ttlMs: number;
  readonly #clock: Clock;
  readonly #entries: Lru<string, CacheEntry>;
  #bytes = 0;

  constructor(options: Options, clock: Clock) {
    this.#options = options;
    this.#ttlMs = msOf(options.ttlMs);
    this.#clock = clock;
    this.#entries = new Lru(MAX_ENTRIES, (answer, key) => this.#forget(key, answer));
  }

  get(key: string): CachedResult | undefined {
    const known = this.#entries.get(key);
    if (!known) return undefined;
    if (known.until > this.#clock.now()) return known;
    this.#entries.delete(key);
    this.#forget(key, known);
    return undefined;
  }

  set(key: string, answer: CachedResult): void {
    const size = sizeOf(key, answer);
    if (size > this.#options.maxBytes) return;
    const old = this.#entries.peek(key);
    if (old) this.#forget(key, old);
    const { result, sent } = answer;
    const until = this.#clock.now() + this.#ttlMs;
    this.#entries.set(key, { result: kept(result), sent: sent && kept(sent), until });
    this.#bytes += size;
    while (this.#bytes > this.#options.maxBytes && this.#entries.dropOldest());
  }

  #forget(key: string, answer: CachedResult): void {
    this.#bytes -= sizeOf(key, answer);
  }
}

function sizeOf(key: string, { result, sent }: CachedResult): number {
  return key.length + result.length + (sent?.length ?? 0);
}

/** One call for several identical callers. It is cancelled when all of them have cancelled. */
class Flight {
  /** Resolves when the call has ended, successful or not. */
  readonly over: Promise<void>;
  readonly #signal = new CallSignal();
  readonly #answer: Promise<CachedResult>;
  readonly #first: Call;
  #waiting = 0;
  /**
   * The child asked the first caller a question, or an inner layer needed a permission, so the result is only
   * for that caller.
   */
  #asked = false;

  constructor(call: Call, next: Handler, store: Store, key: string) {
    this.#first = call;
    const uplink: Call["uplink"] = {
      notify: (...said) => call.uplink.notify(...said),
      request: (...asked) => {
        this.#asked = true;
        return call.uplink.request(...asked);
      },
    };
    const permitted = call.permissions?.uses;
    this.#answer = next({ ...call, signal: this.#signal, uplink }).then((result) => {
      const isError = member(result, "isError");
      if (call.permissions?.uses !== permitted) this.#asked = true;
      const answer = { result, sent: call.trail?.arguments };
      // That a process was replaced concerns this caller, and once.
      const storable = isError?.toString() !== "true" && !mentions(result, RESTARTED);
      if (!this.#asked && storable) store.set(key, answer);
      return answer;
    });
    this.over = this.#answer.then(
      () => {},
      () => {},
    );
  }

  async join(call: Call, next: Handler): Promise<Raw> {
    this.#waiting += 1;
    try {
      const answer = await unlessAborted(this.#answer, call.signal);
      if (call === this.#first) return answer.result;
      if (!this.#asked) return answered(call, answer);
    } catch (error) {
      // The call may fail only for the first caller, so the others make it themselves.
      if (call === this.#first || call.signal.aborted) throw error;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0 && call.signal.aborted) this.#signal.abort(call.signal.reason);
    }
    return await ifCurrent(call, next);
  }
}
