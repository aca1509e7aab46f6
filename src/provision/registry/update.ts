/**
 * Updates the mirror of a registry: reads only the changes, and everything once a week. Pages that were read
 * before a failure are kept.
 */
import type { Log } from "../../kernel/log.ts";
import type { Signal } from "../../kernel/signal.ts";
import { type Base, pageUrl } from "./base.ts";
import { type CRAWL_BOUNDS, type CrawlEnd, crawl } from "./crawl.ts";
import { apply, readListed } from "./listed.ts";
import type { MirrorHead, RegistryMirror } from "./mirror.ts";
import type { Network } from "./request.ts";
import type { ServerJson } from "./server-json.ts";

export interface UpdateJob {
  readonly base: Base;
  readonly network: Network;
  readonly bounds: typeof CRAWL_BOUNDS;
  readonly log: Log;
  readonly signal: Signal;
  /** The wall clock, in ms. */
  now(): number;
  /** Gets the map to which servers are added while they are read. */
  watch(servers: ReadonlyMap<string, ServerJson>): void;
  /** Stores a list that is not complete yet. */
  save(mirror: RegistryMirror): Promise<void>;
}

export interface UpdateResult {
  /** Undefined if no server is known. */
  readonly mirror: RegistryMirror | undefined;
  readonly changed: boolean;
  readonly failure?: string;
}

/** A server that disappears without being marked as deleted is noticed only by a full read. */
const FULL_READ_EVERY_MS = 7 * 86_400_000;
/** The clocks of MetaMCP and the registry may differ. Reading a change twice does no harm. */
const CLOCK_MARGIN_MS = 6 * 3_600_000;
const SAVE_EVERY_PAGES = 25;
const MAX_SERVERS = 60_000;

export async function update(before: RegistryMirror | undefined, job: UpdateJob): Promise<UpdateResult> {
  const { wholeAt, cursor } = before?.head ?? {};
  const now = job.now();
  if (
    before &&
    wholeAt !== undefined &&
    cursor === undefined &&
    Math.abs(now - wholeAt) < FULL_READ_EVERY_MS
  ) {
    const updated = await readChanges(before, job);
    if (updated) return updated;
  }
  return await readAll(before, job);
}

/** Undefined if the registry does not support `updated_since`. */
async function readChanges(before: RegistryMirror, job: UpdateJob): Promise<UpdateResult | undefined> {
  const { base, network, bounds, signal } = job;
  const began = job.now();
  const { since } = before.head;
  const servers = new Map(before.servers);
  let changes = 0;
  const end = await crawl(
    {
      base,
      network,
      signal,
      from: { since, cursor: undefined },
      ifNoneMatch: tagFor(job, before.head, since),
      async onPage(items) {
        changes += applyPage(items, servers).length;
      },
    },
    bounds,
  );
  if (end.end === "failed") {
    if (isRejected(end)) return undefined;
    return { mirror: { head: before.head, servers }, changed: changes > 0, failure: end.reason };
  }
  // Without changes `since` stays, so that the next request has the same URL and the ETag applies.
  const head: MirrorHead = {
    ...before.head,
    since: changes > 0 ? sinceOf(began) : since,
    checkedAt: began,
    etag: end.end === "unchanged" ? before.head.etag : etagOf(job, since, end),
  };
  return { mirror: { head, servers }, changed: changes > 0 };
}

async function readAll(before: RegistryMirror | undefined, job: UpdateJob): Promise<UpdateResult> {
  const { base, network, bounds, signal, log } = job;
  const began = job.now();
  const resumed = before?.head.cursor;
  const since = resumed === undefined ? sinceOf(began) : (before as RegistryMirror).head.since;
  const servers = new Map(before?.servers);
  const seen = new Set<string>();
  let next = resumed;
  let pages = 0;
  job.watch(servers);
  const end = await crawl(
    {
      base,
      network,
      signal,
      from: { since: undefined, cursor: resumed },
      ifNoneMatch: before && tagFor(job, before.head, undefined),
      async onPage(items, cursor) {
        for (const name of applyPage(items, servers)) seen.add(name);
        next = cursor;
        if (++pages % SAVE_EVERY_PAGES === 0 && cursor !== undefined && before?.head.wholeAt === undefined)
          await job.save({ head: { since, cursor }, servers });
      },
    },
    bounds,
  );
  if (end.end === "unchanged" && before) {
    return {
      mirror: { head: { ...before.head, checkedAt: began, wholeAt: began }, servers },
      changed: false,
    };
  }
  if (end.end === "failed" || (seen.size === 0 && servers.size > 0)) {
    const failure = end.end === "failed" ? end.reason : `${base.url.host}: its list is empty`;
    // If the registry rejects the cursor, the next update starts from the beginning.
    const cursor = pages === 0 && isRejected(end) ? undefined : next;
    const head = before?.head.wholeAt === undefined ? { since, cursor } : before.head;
    return { mirror: servers.size > 0 ? { head, servers } : undefined, changed: pages > 0, failure };
  }
  if (end.end === "cut") log.warn(`Not all of the MCP registry was read: ${end.reason}`);
  else if (resumed === undefined)
    for (const name of servers.keys()) if (!seen.has(name)) servers.delete(name);
  const head: MirrorHead = { since, checkedAt: began, wholeAt: began, etag: etagOf(job, undefined, end) };
  return { mirror: { head, servers }, changed: true };
}

/** Whether the registry rejects this request in particular, as opposed to any request at the moment. */
function isRejected(end: CrawlEnd): boolean {
  const { status = 0 } = end.end === "failed" ? end : {};
  return status >= 400 && status < 500 && status !== 429;
}

/** Applies the items of a page. Returns the names of all servers in it, including deleted ones. */
function applyPage(items: readonly unknown[], servers: Map<string, ServerJson>): readonly string[] {
  return items.flatMap((item) => {
    const listed = readListed(item);
    if (!listed || (servers.size >= MAX_SERVERS && !servers.has(listed.name))) return [];
    apply(listed, servers);
    return [listed.name];
  });
}

function sinceOf(now: number): string {
  return new Date(now - CLOCK_MARGIN_MS).toISOString();
}

function firstPage({ base }: UpdateJob, since: string | undefined): string {
  return pageUrl(base, { since, cursor: undefined }).href;
}

function tagFor(job: UpdateJob, { etag }: MirrorHead, since: string | undefined): string | undefined {
  return etag?.url === firstPage(job, since) ? etag.tag : undefined;
}

function etagOf(job: UpdateJob, since: string | undefined, end: CrawlEnd): MirrorHead["etag"] {
  const tag = end.end === "whole" ? end.etag : undefined;
  return tag && tag.length <= 256 && /^[\x21-\x7e]+$/.test(tag)
    ? { url: firstPage(job, since), tag }
    : undefined;
}
