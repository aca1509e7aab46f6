/**
 * Remembers which server returned which URI to which caller, so that a linked resource is read from that
 * server and no other; and the servers whose pages a caller used.
 */
import type { ServerId } from "../../kernel/call.ts";
import type { Raw } from "../../kernel/raw.ts";
import { elements, isString, member, members, mentions, textAt } from "../../rpc/slice.ts";

const MAX_LINKS = 10_000;
const LONGEST_URI = 2_048;
const KEY = '"uri"';

export class Links {
  /** Oldest first. */
  readonly #servers = new Map<string, ServerId>();
  /** The servers whose pages a caller used, the last one first; the oldest caller first. */
  readonly #pages = new Map<string, readonly ServerId[]>();

  /** Called for every result: one without the text `"uri"` is not parsed. */
  noteAll(caller: string, server: ServerId, result: Raw): void {
    if (!mentions(result, KEY)) return;
    const content = member(result, "content");
    for (const block of content ? elements(content) : []) {
      const [uri, resource] = members(block, ["uri", "resource"]);
      const written = uri ?? (resource && member(resource, "uri"));
      if (written && isString(written)) this.note(caller, server, textAt(written, 0));
    }
  }

  note(caller: string, server: ServerId, uri: string): void {
    if (uri.length > LONGEST_URI) return;
    const key = keyOf(caller, uri);
    this.#servers.delete(key);
    this.#servers.set(key, server);
    if (this.#servers.size <= MAX_LINKS) return;
    const [oldest] = this.#servers.keys();
    this.#servers.delete(oldest as string);
  }

  /** The caller read a page of this server, or used a tool that has one. */
  notePage(caller: string, server: ServerId): void {
    const others = this.pagesOf(caller).filter((other) => other !== server);
    this.#pages.delete(caller);
    // All of them: a name is refused only while every server is known that might be meant.
    this.#pages.set(caller, [server, ...others]);
    if (this.#pages.size <= MAX_LINKS) return;
    const [oldest] = this.#pages.keys();
    this.#pages.delete(oldest as string);
  }

  pagesOf(caller: string): readonly ServerId[] {
    return this.#pages.get(caller) ?? [];
  }

  serverOf(caller: string, uri: string): ServerId | undefined {
    return this.#servers.get(keyOf(caller, uri));
  }

  forget(caller: string): void {
    this.#pages.delete(caller);
    for (const key of this.#servers.keys()) if (key.startsWith(keyOf(caller, ""))) this.#servers.delete(key);
  }
}

function keyOf(caller: string, uri: string): string {
  return `${caller}\n${uri}`;
}
