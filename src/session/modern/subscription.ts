/** One `subscriptions/listen`: a stream that tells of changes its client asked to hear of, and of nothing else, until either side ends it. */
import type { Origin, Uplink } from "../../kernel/call.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { META } from "../../rpc/modern/names.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { isObject, joinObject, members, withMember } from "../../rpc/slice.ts";
import type { Face, ListName } from "../../surface/face.ts";
import type { Exchange } from "./exchange.ts";

/** By list: where it is asked for, and what is said when it changes. Templates are told of with the resources. */
const LISTS: readonly { list: ListName; wish: string; of: string }[] = [
  { list: "tools", wish: "toolsListChanged", of: "tools" },
  { list: "prompts", wish: "promptsListChanged", of: "prompts" },
  { list: "resources", wish: "resourcesListChanged", of: "resources" },
  { list: "templates", wish: "resourcesListChanged", of: "resources" },
];
const MOST_RESOURCES = 1_000;

export interface SubscriptionParts {
  readonly session: string;
  readonly face: Face;
  over(subscription: Subscription): void;
}

/** What a client wants to hear of. */
interface Wishes {
  readonly lists: ReadonlySet<string>;
  readonly resources: readonly string[];
}

export class Subscription {
  readonly #parts: SubscriptionParts;
  readonly #exchange: Exchange;
  readonly #origin: Origin;
  readonly #signal = new CallSignal();
  readonly #wishes: Wishes;
  readonly #seen = new Map<ListName, string>();
  /** What came before the client heard that it is listening. */
  #early: [string, Raw | undefined][] | undefined = [];
  #over = false;

  /** Throws RpcError for a filter that cannot be read. */
  constructor(exchange: Exchange, params: Raw, parts: SubscriptionParts) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#wishes = readWishes(params, parts.face);
    const uplink: Uplink = {
      notify: (method, about) => this.#updated(method, about),
      request: () =>
        Promise.reject(RpcError.of(METHOD_NOT_FOUND, "a client that listens cannot be asked anything")),
    };
    this.#origin = { session: parts.session, modern: true, capabilities: exchange.capabilities, uplink };
    this.#compare();
    void this.#begin();
  }

  /** The catalog changed: tells the client if a list it wants to hear of did. */
  tellChanges(): void {
    for (const method of this.#compare()) this.#tell(method, undefined);
  }

  /** The config changed: what is new in it is to appear in lists. */
  catchUp(): void {
    if (this.#wishes.lists.size > 0) this.#parts.face.learn?.(this.#origin);
  }

  cancel(): void {
    if (this.#over) return;
    this.#over = true;
    this.#signal.abort(new Error("the client no longer listens"));
    this.#parts.over(this);
  }

  /** We are the ones who stop. */
  end(): void {
    if (this.#over) return;
    this.cancel();
    this.#exchange.complete(joinObject([["_meta", this.#mark()]]));
  }

  async #begin(): Promise<void> {
    const agreed = await Promise.all(this.#wishes.resources.map((uri) => this.#subscribe(uri)));
    if (this.#over) return;
    const lists = Object.fromEntries([...this.#wishes.lists].map((wish) => [wish, true]));
    const uris = agreed.filter((uri) => uri !== undefined);
    const notifications = uris.length > 0 ? { ...lists, resourceSubscriptions: uris } : lists;
    const early = this.#early ?? [];
    this.#early = undefined;
    this.#tell("notifications/subscriptions/acknowledged", toRaw({ notifications }));
    for (const [method, params] of early) this.#tell(method, params);
  }

  /** The URI; undefined where nobody agreed to tell of it. */
  async #subscribe(uri: string): Promise<string | undefined> {
    const { face } = this.#parts;
    try {
      await face.handle({
        method: "resources/subscribe",
        params: toRaw({ uri }),
        origin: this.#origin,
        signal: this.#signal,
        uplink: this.#origin.uplink,
      });
      return uri;
    } catch {
      return undefined;
    }
  }

  /** The notifications that are due since it was last called. */
  #compare(): ReadonlySet<string> {
    const now = this.#parts.face.lists?.() ?? {};
    const due = new Set<string>();
    for (const { list, wish, of } of LISTS) {
      const version = now[list]?.version;
      if (version === undefined || !this.#wishes.lists.has(wish)) continue;
      const before = this.#seen.get(list);
      this.#seen.set(list, version);
      if (before !== undefined && before !== version) due.add(`notifications/${of}/list_changed`);
    }
    return due;
  }

  #updated(method: string, params: Raw | undefined): void {
    if (method === "notifications/resources/updated") this.#tell(method, params);
  }

  #tell(method: string, params: Raw = EMPTY_OBJECT): void {
    if (this.#over) return;
    if (this.#early) this.#early.push([method, params]);
    else this.#exchange.notify(method, this.#marked(params));
  }

  #marked(params: Raw): Raw {
    const [meta] = members(params, ["_meta"]);
    return withMember(params, "_meta", this.#mark(meta && isObject(meta) ? meta : EMPTY_OBJECT));
  }

  #mark(meta: Raw = EMPTY_OBJECT): Raw {
    return withMember(meta, META.subscription, this.#exchange.id);
  }
}

/** What is not offered here is left out, and so not promised. */
function readWishes(params: Raw, { capabilities }: Face): Wishes {
  const [raw] = members(params, ["notifications"]);
  if (!raw || !isObject(raw))
    throw RpcError.of(INVALID_PARAMS, "subscriptions/listen needs an object of notifications");
  const wanted = fromRaw(raw) as Record<string, unknown>;
  const offered = capabilities as Record<string, { listChanged?: unknown; subscribe?: unknown } | undefined>;
  const uris = wanted["resourceSubscriptions"] ?? [];
  if (!Array.isArray(uris) || uris.some((uri) => typeof uri !== "string") || uris.length > MOST_RESOURCES)
    throw RpcError.of(
      INVALID_PARAMS,
      `resourceSubscriptions must be a list of at most ${MOST_RESOURCES} URIs`,
    );
  const lists = LISTS.filter(({ wish, of }) => wanted[wish] === true && offered[of]?.listChanged === true);
  return {
    lists: new Set(lists.map(({ wish }) => wish)),
    resources: offered["resources"]?.subscribe === true ? [...new Set(uris as string[])] : [],
  };
}
