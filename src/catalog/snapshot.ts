/** What is known at one moment, as a value. Readers keep it as long as they like; nothing in it ever changes. */
import type { ServerId } from "../kernel/call.ts";
import type { About } from "./about.ts";
import type { Item, Items } from "./item.ts";
import type { Tool } from "./tool.ts";

export interface Listing extends Items {
  /** Only what the rules of the config allow. */
  readonly tools: readonly Tool[];
  /** "cache": as the child described itself in an earlier run, not yet confirmed. */
  readonly source: "live" | "cache";
  readonly about: About;
}

export interface Snapshot {
  /** Another number means other visible content; a source that became live is not. */
  readonly version: number;
  readonly listings: ReadonlyMap<ServerId, Listing>;
  tool(server: ServerId, name: string): Tool | undefined;
}

/** A listing that finds a tool by name without walking. */
export class IndexedListing implements Listing {
  readonly tools: readonly Tool[];
  readonly source: "live" | "cache";
  readonly about: About;
  readonly prompts: readonly Item[] | undefined;
  readonly resources: readonly Item[] | undefined;
  readonly templates: readonly Item[] | undefined;
  #byName: ReadonlyMap<string, Tool> | undefined;

  constructor({ tools, source, about, prompts, resources, templates }: Listing) {
    this.tools = tools;
    this.source = source;
    this.about = about;
    this.prompts = prompts;
    this.resources = resources;
    this.templates = templates;
  }

  tool(name: string): Tool | undefined {
    this.#byName ??= new Map(this.tools.map((tool) => [tool.name, tool]));
    return this.#byName.get(name);
  }
}

export class IndexedSnapshot implements Snapshot {
  readonly version: number;
  readonly listings: ReadonlyMap<ServerId, IndexedListing>;

  constructor(version: number, listings: ReadonlyMap<ServerId, IndexedListing>) {
    this.version = version;
    this.listings = listings;
  }

  tool(server: ServerId, name: string): Tool | undefined {
    return this.listings.get(server)?.tool(name);
  }
}
