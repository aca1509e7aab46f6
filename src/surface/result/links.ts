/** Which server gave which URI to whom: what a result links to is read where it came from, and nobody else is asked for it. */
import type { ServerId } from "../../kernel/call.ts";
import type { Raw } from "../../kernel/raw.ts";
import { elements, isString, member, members, mentions, textAt } from "../../rpc/slice.ts";

const MOST = 10_000;
const LONGEST_URI = 2_048;
const KEY = '"uri"';

export class Links {
  /** Oldest first. */
  readonly #servers = new Map<string, ServerId>();

  /** Every result comes by: one without a link is only searched for the word. */
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
    if (this.#servers.size <= MOST) return;
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
