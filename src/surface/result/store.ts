/**
 * The result store: keeps large results in memory for a while. Only the caller that got a result can read it.
 */
import { randomBytes } from "node:crypto";
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { Peers } from "../../kernel/replica-ids.ts";
import { mentions } from "../../rpc/slice.ts";
import { Links } from "./links.ts";
import { pageAt, type ResultPage } from "./pages.ts";
import { type ResultSegment, segmentsOf } from "./segments.ts";
import { soleText, textPageAt } from "./sole-text.ts";

export interface StoreLimits {
  readonly bytes: number;
  readonly lifetimeMs: number;
}

export interface ResultStoreOptions {
  readonly limits?: StoreLimits;
  /** The id of this process. URIs name it, so that every process knows which one has the result. */
  readonly replica?: string | undefined;
  readonly peers?: (Pick<Peers, "isGone"> & Partial<Pick<Peers, "pagesOf">>) | undefined;
}

const LIMITS: StoreLimits = { bytes: 256 * 1024 * 1024, lifetimeMs: 3_600_000 };
/** Number of expired results whose source is remembered. */
const MAX_EXPIRED = 1_000;
const SCHEME = "metamcp://result/";
const TEXT = "text";
/** Estimated memory of an entry and of each segment, in addition to the bytes of the result. */
const ENTRY_BYTES = 512;
const SEGMENT_BYTES = 128;
/** A slice keeps its whole buffer in memory. A result in a buffer larger than this factor is copied. */
const MAX_WASTE = 1.25;

export interface Stored {
  readonly uri: string;
  /** The tool that returned it. */
  readonly source: string;
  readonly bytes: number;
}

export interface StoredPage extends ResultPage {
  readonly uri: string;
  /** The page contains only the text, without the JSON around it. */
  readonly plain: boolean;
  readonly nextUri: string | undefined;
}

export interface Missing {
  /** Why the result or page cannot be read. */
  readonly missing: string;
  /** The tool to run again, if it is known. */
  readonly source?: string;
}

interface Entry extends Stored {
  readonly caller: string;
  /** Whose share of the store it counts for. */
  readonly owner: string;
  readonly result: Raw;
  readonly segments: readonly ResultSegment[];
  /** Memory in bytes. */
  readonly cost: number;
  readonly expiresAt: number;
}

/** True for the URI of a stored result or of one of its pages. */
export function isStoredUri(uri: string): boolean {
  return uri.startsWith(SCHEME);
}

/** Random parts of ids have no such character. */
const OF_REPLICA = ".";

/** The replica that a URI names; undefined without one. Whether it has such a result is not known. */
export function replicaInUri(uri: string): string | undefined {
  const [id = ""] = partsIn(uri);
  const end = id.indexOf(OF_REPLICA);
  return end < 0 ? undefined : id.slice(0, end);
}

const IN_TEXT = /metamcp:\/\/result\/([a-z0-9]+)\./;

/** The same for the first such URI in any text. */
export function replicaInText(text: Raw): string | undefined {
  return mentions(text, SCHEME) ? IN_TEXT.exec(text.toString("latin1"))?.[1] : undefined;
}

function partsIn(uri: string): readonly string[] {
  return isStoredUri(uri) ? uri.slice(SCHEME.length).split("/") : [];
}

export class ResultStore {
  /** Links in results; forgotten with the caller. */
  readonly links = new Links();
  /** The pages that a caller used at other processes; undefined if there are none. */
  readonly pagesElsewhere: Peers["pagesOf"] | undefined;
  readonly #clock: Clock;
  readonly #limits: StoreLimits;
  readonly #replica: string | undefined;
  readonly #peers: ResultStoreOptions["peers"];
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #expired = new Map<string, Pick<Entry, "caller" | "source">>();
  /** Cache of `soleText` for results that were read. */
  readonly #texts = new WeakMap<Entry, Raw | undefined>();
  readonly #owned = new Map<string, number>();
  #bytes = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock, { limits = LIMITS, replica, peers }: ResultStoreOptions = {}) {
    this.#clock = clock;
    this.#limits = limits;
    this.#replica = replica;
    this.#peers = peers;
    this.pagesElsewhere = peers?.pagesOf;
  }

  /** Memory in use, with overhead. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * `owner` is the principal, which may have many sessions. Returns undefined if the result is larger than
   * the whole store may be.
   */
  put(caller: string, source: string, result: Raw, owner = caller): Stored | undefined {
    if (result.length > this.#limits.bytes) return undefined;
    const random = randomBytes(16).toString("base64url");
    const id = this.#replica === undefined ? random : `${this.#replica}${OF_REPLICA}${random}`;
    const own = result.buffer.byteLength <= result.length * MAX_WASTE ? result : (Buffer.from(result) as Raw);
    const segments = segmentsOf(own);
    const bytes = segments.reduce((sum, segment) => sum + segment.bytes.length, 0);
    const cost = bytes + ENTRY_BYTES + segments.length * SEGMENT_BYTES;
    if (cost > this.#limits.bytes) return undefined;
    const expiresAt = this.#clock.now() + this.#limits.lifetimeMs;
    const entry: Entry = {
      uri: `${SCHEME}${id}`,
      source,
      bytes,
      cost,
      caller,
      owner,
      result: own,
      segments,
      expiresAt,
    };
    this.#entries.set(id, entry);
    this.#bytes += cost;
    this.#owned.set(owner, (this.#owned.get(owner) ?? 0) + cost);
    this.#makeRoom();
    return entry;
  }

  /** `plain`: return only the text if it contains everything. Its pages have URIs of their own. */
  read(caller: string, uri: string, { plain = false } = {}): StoredPage | Missing {
    const entry = this.#find(caller, uri);
    if ("missing" in entry) return entry;
    const [, ...path] = partsIn(uri);
    const ofText = path[0] === TEXT;
    const [position = "0", ...more] = ofText ? path.slice(1) : path;
    const at = more.length === 0 && /^\d{1,15}$/.test(position) ? Number(position) : Number.NaN;
    const text = ofText || (plain && path.length === 0) ? this.#textOf(entry) : undefined;
    const other = ofText ? undefined : pageAt(entry.segments, at);
    const page = text ? textPageAt(text, at) : other;
    if (!page) return { missing: `No page starts there. Start with ${entry.uri}; each page names the next.` };
    const pages = text ? `${entry.uri}/${TEXT}` : entry.uri;
    const nextUri = page.next === undefined ? undefined : `${pages}/${page.next}`;
    return { ...page, uri, plain: text !== undefined, nextUri };
  }

  #textOf(entry: Entry): Raw | undefined {
    if (!this.#texts.has(entry)) this.#texts.set(entry, soleText(entry.result));
    return this.#texts.get(entry);
  }

  /** Returns the whole result, even if the URI names one of its pages. */
  whole(caller: string, uri: string): { readonly result: Raw; readonly uri: string } | Missing {
    return this.#find(caller, uri);
  }

  #find(caller: string, uri: string): Entry | Missing {
    const [id = ""] = partsIn(uri);
    this.#makeRoom();
    const entry = this.#entries.get(id);
    if (entry?.caller === caller) return entry;
    const replica = replicaInUri(uri);
    if (replica === undefined || replica === this.#replica) return this.#missing(caller, id);
    const why = this.#peers?.isGone(replica)
      ? "Stored result expired: the replica of the gateway that kept it is gone."
      : `This result is stored at replica ${replica} of the gateway, which cannot be reached from here.`;
    return { missing: `${why} Run the tool again to get it.` };
  }

  /** The results of a caller, newest first. */
  list(caller: string): readonly Stored[] {
    return [...this.#entries.values()].filter((entry) => entry.caller === caller).reverse();
  }

  /** Removes all results and links of a caller that will not come back. */
  forget(caller: string): void {
    for (const [id, entry] of this.#entries) if (entry.caller === caller) this.#drop(id, entry);
    for (const [id, expired] of this.#expired) if (expired.caller === caller) this.#expired.delete(id);
    this.links.forget(caller);
  }

  #missing(caller: string, id: string): Missing {
    const expired = this.#expired.get(id);
    const { bytes, lifetimeMs } = this.#limits;
    const kept = `Results are kept for ${Math.round(lifetimeMs / 60_000)} minutes, ${Math.round(bytes / 1024 / 1024)} MB in total.`;
    if (expired?.caller === caller)
      return {
        missing: `Stored result expired. ${kept} Run ${expired.source} again to get it.`,
        source: expired.source,
      };
    return { missing: `Stored result not found or expired. ${kept} Run the tool again to get it.` };
  }

  /**
   * Drops expired results. Beyond the limit, drops the oldest ones of the owner that has most, so that nobody
   * crowds out others.
   */
  #makeRoom(): void {
    const now = this.#clock.now();
    for (const [id, entry] of this.#entries) {
      if (entry.expiresAt > now) break;
      this.#expire(id, entry);
    }
    while (this.#bytes > this.#limits.bytes) {
      const [most] = [...this.#owned].reduce((a, b) => (b[1] > a[1] ? b : a));
      for (const [id, entry] of this.#entries) {
        if (entry.owner !== most) continue;
        this.#expire(id, entry);
        break;
      }
    }
    for (const id of this.#expired.keys()) {
      if (this.#expired.size <= MAX_EXPIRED) break;
      this.#expired.delete(id);
    }
    this.#scheduleExpiry(now);
  }

  #expire(id: string, entry: Entry): void {
    this.#drop(id, entry);
    this.#expired.set(id, { caller: entry.caller, source: entry.source });
  }

  #drop(id: string, { cost, owner }: Entry): void {
    this.#entries.delete(id);
    this.#bytes -= cost;
    const left = (this.#owned.get(owner) ?? 0) - cost;
    if (left > 0) this.#owned.set(owner, left);
    else this.#owned.delete(owner);
  }

  #scheduleExpiry(now: number): void {
    this.#timer?.cancel();
    const [oldest] = this.#entries.values();
    this.#timer = oldest && this.#clock.after(oldest.expiresAt - now, () => this.#makeRoom());
  }
}
