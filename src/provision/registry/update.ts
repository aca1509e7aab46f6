/** Brings what is known of a registry up to date: only what changed where that is enough, all of it once a week. What was read before a failure stays. */
import type { Log } from "../../kernel/log.ts";
import type { Signal } from "../../kernel/signal.ts";
import { type Base, pageUrl } from "./base.ts";
import { type CRAWL_BOUNDS, type CrawlEnd, crawl } from "./crawl.ts";
import { apply, readListed } from "./listed.ts";
import type { Head, RegistryMirror } from "./mirror.ts";
import type { Network } from "./request.ts";
import type { ServerJson } from "./server-json.ts";

export interface UpdateJob {
  readonly base: Base;
  readonly network: Network;
  readonly bounds: typeof CRAWL_BOUNDS;
  readonly log: Log;
  readonly signal: Signal;
  /** By the wall, in ms. */
  now(): number;
  /** Sees the servers as they come in. */
  watch(servers: ReadonlyMap<string, ServerJson>): void;
  /** Keeps a list that is not complete yet. */
  save(mirror: RegistryMirror): Promise<void>;
}

export interface Updated {
  /** Undefined if nothing is known at all. */
  readonly mirror: RegistryMirror | undefined;
  readonly changed: boolean;
  readonly failure?: string;
}

/** Servers that vanish without being called deleted are noticed only when all of it is read. */
const WHOLE_EVERY_MS = 7 * 86_400_000;
/** Our clock and the registry's may differ; what is told twice does no harm. */
const MARGIN_MS = 6 * 3_600_000;
const SAVE_EVERY_PAGES = 25;
const MOST_SERVERS = 60_000;

export async function update(before: RegistryMirror | undefined, job: UpdateJob): Promise<Updated> {
  const { wholeAt, cursor } = before?.head ?? {};
  const now = job.now();
  if (before && wholeAt !== undefined && cursor === undefined && Math.abs(now - wholeAt) < WHOLE_EVERY_MS) {
    const updated = await readChanges(before, job);
    if (updated) return updated;
  }
  return await readWhole(before, job);
}

/** Undefined if the registry does not know how to tell changes. */
async function readChanges(before: RegistryMirror, job: UpdateJob): Promise<Updated | undefined> {
  const { base, network, bounds, signal } = job;
  const began = job.now();
  const { since } = before.head;
  const servers = new Map(before.servers);
  let told = 0;
  const end = await crawl(
    {
      base,
      network,
      signal,
      from: { since, cursor: undefined },
      ifNoneMatch: tagFor(job, before.head, since),
      async onPage(items) {
        told += take(items, servers).length;
      },
    },
    bounds,
  );
  if (end.end === "failed") {
    if (refuses(end)) return undefined;
    return { mirror: { head: before.head, servers }, changed: told > 0, failure: end.reason };
  }
  // Asking for the same span again lets the registry answer that it is unchanged.
  const head: Head = {
    ...before.head,
    since: told > 0 ? sinceOf(began) : since,
    checkedAt: began,
    etag: end.end === "unchanged" ? before.head.etag : etagOf(job, since, end),
  };
  return { mirror: { head, servers }, changed: told > 0 };
}

async function readWhole(before: RegistryMirror | undefined, job: UpdateJob): Promise<Updated> {
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
        for (const name of take(items, servers)) seen.add(name);
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
    // A cursor that the registry does not take leads nowhere: the next time begins anew.
    const cursor = pages === 0 && refuses(end) ? undefined : next;
    const head = before?.head.wholeAt === undefined ? { since, cursor } : before.head;
    return { mirror: servers.size > 0 ? { head, servers } : undefined, changed: pages > 0, failure };
  }
  if (end.end === "cut") log.warn(`Not all of the MCP registry was read: ${end.reason}`);
  else if (resumed === undefined)
    for (const name of servers.keys()) if (!seen.has(name)) servers.delete(name);
  const head: Head = { since, checkedAt: began, wholeAt: began, etag: etagOf(job, undefined, end) };
  return { mirror: { head, servers }, changed: true };
}

/** It does not want this question, as opposed to any at the moment. */
function refuses(end: CrawlEnd): boolean {
  const { status = 0 } = end.end === "failed" ? end : {};
  return status >= 400 && status < 500 && status !== 429;
}

/** The names that were told of, whatever was said about them. */
function take(items: readonly unknown[], servers: Map<string, ServerJson>): readonly string[] {
  return items.flatMap((item) => {
    const listed = readListed(item);
    if (!listed || (servers.size >= MOST_SERVERS && !servers.has(listed.name))) return [];
    apply(listed, servers);
    return [listed.name];
  });
}

function sinceOf(now: number): string {
  return new Date(now - MARGIN_MS).toISOString();
}

function firstPage({ base }: UpdateJob, since: string | undefined): string {
  return pageUrl(base, { since, cursor: undefined }).href;
}

function tagFor(job: UpdateJob, { etag }: Head, since: string | undefined): string | undefined {
  return etag?.url === firstPage(job, since) ? etag.tag : undefined;
}

function etagOf(job: UpdateJob, since: string | undefined, end: CrawlEnd): Head["etag"] {
  const tag = end.end === "whole" ? end.etag : undefined;
  return tag && tag.length <= 256 && /^[\x21-\x7e]+$/.test(tag)
    ? { url: firstPage(job, since), tag }
    : undefined;
}
