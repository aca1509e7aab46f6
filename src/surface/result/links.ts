/**
 * Remembers which server returned which URI to which caller, so that a linked resource is read from that
 * server and no other.
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

  serverOf(caller: string, uri: string): ServerId | undefined {
    return this.#servers.get(keyOf(caller, uri));
  }

  forget(caller: string): void {
    for (const key of this.#servers.keys()) if (key.startsWith(keyOf(caller, ""))) this.#servers.delete(key);
  }
}

function keyOf(caller: string, uri: string): string {
  return `${caller}\n${uri}`;
}
