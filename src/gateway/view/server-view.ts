/**
 * One server as a namespace shows it, with the lookup from public names to tools. Shared by all namespaces
 * with the same rules for it.
 */
import { createHash } from "node:crypto";
import type { Listing } from "../../catalog/catalog.ts";
import { ITEM_KINDS, type Item } from "../../catalog/item.ts";
import { searchId } from "../../catalog/search-id.ts";
import { IndexedListing } from "../../catalog/snapshot.ts";
import type { Tool } from "../../catalog/tool.ts";
import type { NamespacePart } from "../part.ts";
import type { ToolOverride } from "../schemas.ts";
import { argumentsOf, type SetArgument } from "./arguments.ts";
import { shownTool } from "./shown-tool.ts";

/** The tool behind a public name. */
export interface Target {
  /** uuid of the server. */
  readonly server: string;
  /** The server's own name of the tool. */
  readonly name: string;
  /**
   * The tool as the child lists it; undefined if it does not or is unknown. The arguments that are sent are
   * checked against it.
   */
  readonly own: Tool | undefined;
  /** The tool as the client sees it. Its annotations are those that rules use. */
  readonly shown: Tool | undefined;
  readonly args: readonly SetArgument[];
}

/** Why a tool is not shown. */
export type Hidden = "server" | "namespace" | "rule" | "newTools" | { readonly nameHeldBy: string };

/** Undefined if the tool is shown. */
export function hiddenBy({ off, newTools, rules, renamed }: NamespacePart, own: string): Hidden | undefined {
  if (off) return off;
  const rule = rules.get(own);
  if (rule?.disabled) return "rule";
  if (!rule && newTools === "disabled") return "newTools";
  const holder = renamed.get(rule?.name ?? own);
  return holder !== undefined && holder !== own ? { nameHeldBy: holder } : undefined;
}

export class ServerView {
  readonly part: NamespacePart;
  /** The listing for clients; undefined while the tools of the server are unknown. */
  readonly listing: IndexedListing | undefined;
  readonly #source: IndexedListing | undefined;
  readonly #listed: Listing | undefined;
  /**
   * Cache of resolved names. Only listed tools are cached, because callers can send any number of other
   * names.
   */
  readonly #targets = new Map<string, Target>();
  #hash: string | undefined;
  #changed: readonly Tool[] | undefined;

  constructor(part: NamespacePart, source: Listing | undefined) {
    this.part = part;
    this.#listed = source;
    this.#source = source && namedListing(source, part.name);
    this.listing = this.#source && shownListing(part, this.#source);
  }

  /**
   * Whether nothing of the server is left here, because all its tools are switched off and it has nothing
   * else.
   */
  get isEmpty(): boolean {
    const { listing } = this;
    if (!listing || listing.tools.length > 0 || this.#source?.tools.length === 0) return false;
    return ITEM_KINDS.every((kind) => listing[kind]?.length === 0);
  }

  /** Undefined if no tool can be called under that name, listed or not. */
  resolve(name: string): Target | undefined {
    const known = this.#targets.get(name);
    if (known) return known;
    const target = this.#find(name);
    if (target?.shown) this.#targets.set(name, target);
    return target;
  }

  #find(name: string): Target | undefined {
    const { part } = this;
    const own = part.renamed.get(name) ?? name;
    const rule: ToolOverride | undefined = part.rules.get(own);
    if ((rule?.name ?? own) !== name || hiddenBy(part, own)) return undefined;
    return {
      server: part.server,
      name: own,
      own: this.#source?.tool(own),
      shown: this.listing?.tool(name),
      args: argumentsOf(rule),
    };
  }

  /** The tool of that name, if the namespace shows it exactly as its server describes it. */
  unchanged(name: string): Tool | undefined {
    const tool = this.listing?.tool(name);
    return tool && tool === this.#source?.tool(name) ? tool : undefined;
  }

  /** The tools that the namespace shows differently from their server. */
  get changed(): readonly Tool[] {
    this.#changed ??= this.listing?.tools.filter((tool) => !this.unchanged(tool.name)) ?? [];
    return this.#changed;
  }

  /** The ids in the search index, for unchanged and for changed tools. */
  get searchIds(): { readonly unchanged: string; readonly changed: string } {
    const { server, key } = this.part;
    const unchanged = this.#listed ? searchId(server, this.#listed) : server;
    return { unchanged, changed: `${unchanged}/${key}` };
  }

  /** A hash of everything that clients see of its tools. */
  get hash(): string {
    if (this.#hash === undefined) {
      const hash = createHash("sha256").update(JSON.stringify([this.part.name, this.part.prefix]));
      for (const { definition } of this.listing?.tools ?? []) hash.update(definition).update("\n");
      this.#hash = hash.digest("base64url");
    }
    return this.#hash;
  }
}

function shownListing(part: NamespacePart, source: IndexedListing): IndexedListing {
  if (part.rules.size === 0 && part.newTools === "enabled") return source;
  const isHidden = ({ name }: Tool): boolean => hiddenBy(part, name) !== undefined;
  const tools = source.tools.flatMap((tool) =>
    isHidden(tool) ? [] : [shownTool(tool, part.rules.get(tool.name))],
  );
  const same = tools.length === source.tools.length && tools.every((tool, at) => tool === source.tools[at]);
  if (same) return source;
  const hidden = [...source.hidden, ...source.tools.filter(isHidden)];
  return new IndexedListing({ ...listingOf(source), tools, hidden });
}

const namedListings = new WeakMap<Listing, { readonly name: string; readonly listing: IndexedListing }>();

/**
 * The listing under the public name of the server. Reuses the objects of the child if they already have that
 * name.
 */
function namedListing(source: Listing, name: string): IndexedListing {
  const known = namedListings.get(source);
  if (known?.name === name) return known.listing;
  const listing = renamedListing(source, name);
  namedListings.set(source, { name, listing });
  return listing;
}

function renamedListing(source: Listing, name: string): IndexedListing {
  const { tools, prompts = [], resources = [], templates = [], skills = [] } = source;
  const first = tools[0] ?? prompts[0] ?? resources[0] ?? templates[0] ?? skills[0];
  if (first === undefined || first.server === name)
    return source instanceof IndexedListing ? source : new IndexedListing(source);
  const named = <T extends Item>(items: readonly T[] | undefined): readonly T[] | undefined =>
    items?.map((item) => ({ ...item, server: name }));
  return new IndexedListing({
    ...listingOf(source),
    tools: named(tools) ?? [],
    prompts: named(source.prompts),
    resources: named(source.resources),
    templates: named(source.templates),
    skills: named(source.skills),
  });
}

function listingOf({ tools, source, about, own = false, hidden = [], ...items }: Listing): Listing {
  const { prompts, resources, templates, skills } = items;
  return { tools, source, about, own, hidden, prompts, resources, templates, skills };
}
