/** Results that were too large to be shown, kept for a while in memory for who asked for them, and for nobody else. */
import { randomBytes } from "node:crypto";
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Raw } from "../../kernel/raw.ts";
import { Links } from "./links.ts";
import { pageAt, type ResultPage } from "./pages.ts";
import { type ResultSegment, segmentsOf } from "./segments.ts";
import { soleText, textPageAt } from "./sole-text.ts";

export interface StoreLimits {
  readonly bytes: number;
  readonly lifetimeMs: number;
}

const LIMITS: StoreLimits = { bytes: 256 * 1024 * 1024, lifetimeMs: 3_600_000 };
/** How many that are gone are still known by name. */
const MOST_GONE = 1_000;
const SCHEME = "metamcp://result/";
const TEXT = "text";
/** What it takes to keep one, and each segment of it, beside its bytes. */
const KEPT_BYTES = 512;
const SEGMENT_BYTES = 128;
/** A part of something larger keeps all of it in memory. */
const MOST_WASTE = 1.25;

export interface Stored {
  readonly uri: string;
  /** The tool it came from. */
  readonly source: string;
  readonly bytes: number;
}

export interface StoredPage extends ResultPage {
  readonly uri: string;
  /** It is of the text alone, not of the JSON around it. */
  readonly plain: boolean;
  readonly nextUri: string | undefined;
}

/** Why there is nothing to read. */
export interface Missing {
  readonly missing: string;
  /** The tool to run again, where it is still known. */
  readonly source?: string;
}

interface Kept extends Stored {
  readonly caller: string;
  readonly result: Raw;
  readonly segments: readonly ResultSegment[];
  /** Of memory. */
  readonly cost: number;
  readonly until: number;
}

/** Of a result, or of a page of one. */
export function isStoredUri(uri: string): boolean {
  return uri.startsWith(SCHEME);
}

function partsIn(uri: string): readonly string[] {
  return isStoredUri(uri) ? uri.slice(SCHEME.length).split("/") : [];
}

export class ResultStore {
  /** What was linked to in results, kept for as long as they are. */
  readonly links = new Links();
  readonly #clock: Clock;
  readonly #limits: StoreLimits;
  /** Oldest first. */
  readonly #kept = new Map<string, Kept>();
  readonly #gone = new Map<string, Pick<Kept, "caller" | "source">>();
  /** Found out once, of those that are read. */
  readonly #texts = new WeakMap<Kept, Raw | undefined>();
  #bytes = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock, limits: StoreLimits = LIMITS) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Bytes kept at the moment, with what it takes to keep them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Undefined if it is larger than everything that may be kept. */
  put(caller: string, source: string, result: Raw): Stored | undefined {
    if (result.length > this.#limits.bytes) return undefined;
    const id = randomBytes(16).toString("base64url");
    const own =
      result.buffer.byteLength <= result.length * MOST_WASTE ? result : (Buffer.from(result) as Raw);
    const segments = segmentsOf(own);
    const bytes = segments.reduce((sum, segment) => sum + segment.bytes.length, 0);
    const cost = bytes + KEPT_BYTES + segments.length * SEGMENT_BYTES;
    if (cost > this.#limits.bytes) return undefined;
    const until = this.#clock.now() + this.#limits.lifetimeMs;
    const kept: Kept = { uri: `${SCHEME}${id}`, source, bytes, cost, caller, result: own, segments, until };
    this.#kept.set(id, kept);
    this.#bytes += cost;
    this.#makeRoom();
    return kept;
  }

  /** `plain`: the text alone, where that says all there is. Its pages have addresses of their own. */
  read(caller: string, uri: string, { plain = false } = {}): StoredPage | Missing {
    const kept = this.#find(caller, uri);
    if ("missing" in kept) return kept;
    const [, ...path] = partsIn(uri);
    const ofText = path[0] === TEXT;
    const [position = "0", ...more] = ofText ? path.slice(1) : path;
    const at = more.length === 0 && /^\d{1,15}$/.test(position) ? Number(position) : Number.NaN;
    const text = ofText || (plain && path.length === 0) ? this.#textOf(kept) : undefined;
    const other = ofText ? undefined : pageAt(kept.segments, at);
    const page = text ? textPageAt(text, at) : other;
    if (!page) return { missing: `No page starts there. Start with ${kept.uri}; each page names the next.` };
    const pages = text ? `${kept.uri}/${TEXT}` : kept.uri;
    const nextUri = page.next === undefined ? undefined : `${pages}/${page.next}`;
    return { ...page, uri, plain: text !== undefined, nextUri };
  }

  #textOf(kept: Kept): Raw | undefined {
    if (!this.#texts.has(kept)) this.#texts.set(kept, soleText(kept.result));
    return this.#texts.get(kept);
  }

  /** The result as it came, whichever page the URI names. */
  whole(caller: string, uri: string): { readonly result: Raw; readonly uri: string } | Missing {
    return this.#find(caller, uri);
  }

  #find(caller: string, uri: string): Kept | Missing {
    const [id = ""] = partsIn(uri);
    this.#makeRoom();
    const kept = this.#kept.get(id);
    return kept?.caller === caller ? kept : this.#missing(caller, id);
  }

  /** The caller's own, newest first. */
  list(caller: string): readonly Stored[] {
    return [...this.#kept.values()].filter((kept) => kept.caller === caller).reverse();
  }

  /** The caller is gone for good. */
  forget(caller: string): void {
    for (const [id, kept] of this.#kept) if (kept.caller === caller) this.#drop(id, kept);
    for (const [id, gone] of this.#gone) if (gone.caller === caller) this.#gone.delete(id);
    this.links.forget(caller);
  }

  #missing(caller: string, id: string): Missing {
    const gone = this.#gone.get(id);
    const { bytes, lifetimeMs } = this.#limits;
    const kept = `Results are kept for ${Math.round(lifetimeMs / 60_000)} minutes, ${Math.round(bytes / 1024 / 1024)} MB in total.`;
    if (gone?.caller === caller)
      return {
        missing: `Stored result expired. ${kept} Run ${gone.source} again to get it.`,
        source: gone.source,
      };
    return { missing: `Stored result not found or expired. ${kept} Run the tool again to get it.` };
  }

  #makeRoom(): void {
    const now = this.#clock.now();
    for (const [id, kept] of this.#kept) {
      if (this.#bytes <= this.#limits.bytes && kept.until > now) break;
      this.#drop(id, kept);
      this.#gone.set(id, { caller: kept.caller, source: kept.source });
    }
    for (const id of this.#gone.keys()) {
      if (this.#gone.size <= MOST_GONE) break;
      this.#gone.delete(id);
    }
    this.#wakeForOldest(now);
  }

  #drop(id: string, { cost }: Kept): void {
    this.#kept.delete(id);
    this.#bytes -= cost;
  }

  #wakeForOldest(now: number): void {
    this.#timer?.cancel();
    const [oldest] = this.#kept.values();
    this.#timer = oldest && this.#clock.after(oldest.until - now, () => this.#makeRoom());
  }
}
