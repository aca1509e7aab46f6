/**
 * Temporary keys that the gateway uses for its own calls, one endpoint each. They are sealed and stored
 * nowhere, so every gateway on the store accepts them.
 */
import { randomBytes } from "node:crypto";
import type { Principal } from "../kernel/principal.ts";
import { Seal } from "../kernel/seal.ts";

const PREFIX = "pass_";
const LIFETIME_MS = 60_000;

import type { KeyHolder } from "./key-ring.ts";

type TemporaryHolder = Pick<KeyHolder, "principal" | "opens">;

/** What a key contains. */
interface Content {
  readonly id: string;
  readonly endpoint: string;
  readonly name: string;
  readonly until: number;
}

export interface TemporaryKey {
  readonly text: string;
  readonly principal: Principal;
  /** Makes the key invalid at this gateway. At others it expires. */
  end(): void;
}

export class TemporaryKeys {
  readonly #seal: Seal;
  readonly #now: () => number;
  /** Ids of ended keys, until they expire. */
  readonly #ended = new Map<string, number>();

  constructor(secret: Buffer, now: () => number = Date.now) {
    this.#seal = new Seal({ secret }, "temporary keys");
    this.#now = now;
  }

  /** `name` is its purpose, as audit records show it. */
  issue(endpoint: string, name: string): TemporaryKey {
    const id = `pass ${randomBytes(16).toString("hex")}`;
    const content: Content = { id, endpoint, name, until: this.#now() + LIFETIME_MS };
    return {
      text: PREFIX + this.#seal.close(JSON.stringify(content), PREFIX),
      principal: principalOf(content),
      end: () => this.#end(content),
    };
  }

  holderOf(text: string): TemporaryHolder | undefined {
    if (!text.startsWith(PREFIX)) return undefined;
    const opened = this.#seal.open(text.slice(PREFIX.length), PREFIX);
    const content = opened === undefined ? undefined : (JSON.parse(opened) as Content);
    if (!content || content.until <= this.#now() || this.#ended.has(content.id)) return undefined;
    return { principal: principalOf(content), opens: (endpoint) => endpoint === content.endpoint };
  }

  #end({ id, until }: Content): void {
    const now = this.#now();
    for (const [other, expires] of this.#ended) if (expires <= now) this.#ended.delete(other);
    this.#ended.set(id, until);
  }
}

function principalOf({ id, name }: Content): Principal {
  return { id, kind: "key", roles: [], groups: [], name };
}
