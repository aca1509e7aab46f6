/** Keeps the catalog in line with what connected children say: their lists when they greet, and again when they change. */
import type { About, Catalog } from "./catalog/catalog.ts";
import { CAPABILITY, ITEM_KINDS, type ItemKind } from "./catalog/item.ts";
import type { Ask } from "./catalog/list-all.ts";
import type { Greeting } from "./child/handshake.ts";
import type { Log } from "./kernel/log.ts";
import { type Raw, toRaw } from "./kernel/raw.ts";
import { entries } from "./rpc/slice.ts";

const nothingListed = (): Promise<Raw> => Promise.resolve(toRaw({ tools: [] }));

export class Refresher {
  readonly #catalog: Catalog;
  readonly #log: Log;
  readonly #items: boolean;
  readonly #greetings = new Map<string, Greeting>();

  /** `items`: prompts and resources are shown to somebody; else nobody asks for them. */
  constructor({ catalog, log, items }: { catalog: Catalog; log: Log; items: boolean }) {
    this.#catalog = catalog;
    this.#log = log;
    this.#items = items;
  }

  /** Resolves once the tools are known. The rest need not be waited for: no call depends on it. */
  greet(server: string, greeting: Greeting, ask: Ask): Promise<void> {
    this.#greetings.set(server, greeting);
    const tools = this.#tools(server, greeting, ask);
    for (const kind of this.#items ? ITEM_KINDS : []) this.#list(server, kind, greeting, ask);
    return tools;
  }

  onListChanged(server: string, method: string, ask: Ask): void {
    const greeting = this.#greetings.get(server);
    if (!greeting) return;
    if (method === "notifications/tools/list_changed") {
      this.#tools(server, greeting, ask).catch((error: Error) => {
        this.#log.warn(`${server}: its tools could not be listed: ${error.message}`, { server });
      });
      return;
    }
    for (const kind of this.#items ? ITEM_KINDS : [])
      if (method === `notifications/${CAPABILITY[kind]}/list_changed`)
        this.#list(server, kind, greeting, ask);
  }

  #tools(server: string, greeting: Greeting, ask: Ask): Promise<void> {
    const about = aboutOf(greeting);
    return this.#catalog.refresh(server, offers(greeting, "tools") ? ask : nothingListed, about);
  }

  #list(server: string, kind: ItemKind, greeting: Greeting, ask: Ask): void {
    void this.#catalog.refreshItems(server, kind, offers(greeting, CAPABILITY[kind]) ? ask : undefined);
  }
}

function offers({ capabilities }: Greeting, capability: string): boolean {
  return entries(capabilities).some(([name]) => name === capability);
}

function aboutOf({ era, title, version, instructions, capabilities }: Greeting): About {
  const names = entries(capabilities).map(([name]) => name);
  return {
    era,
    offers: [...new Set(names)].toSorted().join(" "),
    ...(title && { title }),
    ...(version && { version }),
    ...(instructions && { instructions }),
  };
}
