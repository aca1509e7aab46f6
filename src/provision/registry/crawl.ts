/**
 * Reads a registry's list page by page, within limits. Passes on each page as it arrives; never throws, and
 * returns how the crawl ended.
 */
import { isKeys } from "../../config/field.ts";
import type { Signal } from "../../kernel/signal.ts";
import { type Base, pageUrl, type RegistryPage } from "./base.ts";
import { get, type HttpAnswer, type Network, unavailable } from "./request.ts";

export interface Crawl {
  readonly base: Base;
  readonly network: Network;
  readonly from: RegistryPage;
  readonly ifNoneMatch?: string | undefined;
  readonly signal: Signal;
  /** `next` is the cursor of the following page. */
  onPage(items: readonly unknown[], next: string | undefined): Promise<void>;
}

export type CrawlEnd =
  | { readonly end: "whole"; readonly etag: string | undefined }
  | { readonly end: "unchanged" }
  /** The list exceeds the limits or repeats, so continuing later would not help. */
  | { readonly end: "cut"; readonly reason: string }
  | { readonly end: "failed"; readonly reason: string; readonly status?: number };

export const CRAWL_BOUNDS = {
  pages: 1_000,
  pageBytes: 8 << 20,
  totalBytes: 192 << 20,
  requestMs: 30_000,
  totalMs: 300_000,
};

const MAX_CURSOR_LENGTH = 2_048;

export async function crawl(job: Crawl, bounds: typeof CRAWL_BOUNDS): Promise<CrawlEnd> {
  const { clock } = job.network;
  const end = clock.now() + bounds.totalMs;
  const seen = new Set<string>();
  let { cursor } = job.from;
  let bytes = 0;
  for (let pages = 0; pages < bounds.pages; pages++) {
    const leftMs = end - clock.now();
    if (leftMs <= 0) return { end: "failed", reason: `its list was not read within ${bounds.totalMs} ms` };
    const timeoutMs = Math.min(bounds.requestMs, leftMs);
    const page = await readPage(job, { cursor, first: pages === 0, timeoutMs, maxBytes: bounds.pageBytes });
    if ("end" in page) return page;
    await job.onPage(page.items, page.next);
    const { next } = page;
    // The ETag of the first page applies to the whole list only if there is one page.
    if (next === undefined) return { end: "whole", etag: pages === 0 && !cursor ? page.etag : undefined };
    if (seen.has(next) || next === cursor) return { end: "cut", reason: "its pages repeat" };
    bytes += page.bytes;
    if (bytes > bounds.totalBytes)
      return { end: "cut", reason: `its list is larger than ${bounds.totalBytes} bytes` };
    seen.add(next);
    cursor = next;
  }
  return { end: "cut", reason: `its list has over ${bounds.pages} pages` };
}

interface PageRequest {
  readonly cursor: string | undefined;
  readonly first: boolean;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

async function readPage(job: Crawl, request: PageRequest): Promise<ListPage | CrawlEnd> {
  const { base, network, from, signal } = job;
  const { cursor, first, timeoutMs, maxBytes } = request;
  try {
    const answer = await get(
      {
        url: pageUrl(base, { since: from.since, cursor }),
        accept: "application/json",
        authorization: base.authorization,
        ifNoneMatch: first ? job.ifNoneMatch : undefined,
        timeoutMs,
        maxBytes,
        signal,
      },
      network,
    );
    const { status } = answer;
    if (status === 304 && first && job.ifNoneMatch) return { end: "unchanged" };
    return status === 200
      ? pageIn(answer, base)
      : { end: "failed", reason: `${base.url.host}: it answers with status ${status}`, status };
  } catch (error) {
    return { end: "failed", reason: (error as Error).message };
  }
}

interface ListPage {
  readonly items: readonly unknown[];
  readonly next: string | undefined;
  readonly etag: string | undefined;
  readonly bytes: number;
}

function pageIn({ headers, body }: HttpAnswer, { url }: Base): ListPage {
  const type = headers.get("content-type") ?? "";
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type.trim()))
    throw unavailable(
      url,
      `it answers with ${type.slice(0, 60) || "something without a type"} instead of JSON`,
    );
  let list: unknown;
  try {
    list = JSON.parse(body.toString("utf8"));
  } catch {
    throw unavailable(url, "its answer is not JSON");
  }
  // Some registries write an empty list as null.
  const servers = isKeys(list) && list["servers"] === null ? [] : isKeys(list) && list["servers"];
  if (!isKeys(list) || !Array.isArray(servers)) throw unavailable(url, "its answer is not a list of servers");
  const metadata = isKeys(list["metadata"]) ? list["metadata"] : {};
  const next = metadata["nextCursor"] ?? metadata["next_cursor"] ?? "";
  if (typeof next !== "string" || next.length > MAX_CURSOR_LENGTH)
    throw unavailable(url, "its cursor is invalid");
  const etag = headers.get("etag") ?? undefined;
  return { items: servers, next: next || undefined, etag, bytes: body.length };
}
