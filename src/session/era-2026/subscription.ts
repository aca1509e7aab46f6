/** One `subscriptions/listen`: a stream that tells of changes its client asked to hear of, and of nothing else, until either side ends it. */
import type { Origin, Uplink } from "../../kernel/call.ts";
import { accountOf } from "../../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { META } from "../../rpc/era-2026/names.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { isObject, joinObject, member, withMember } from "../../rpc/slice.ts";
import type { ListName, Surface } from "../../surface/surface.ts";
import { requireTasks } from "../../surface/task/era-2026-form.ts";
import { LISTEN } from "../../surface/task/task-requests.ts";
import type { PendingReply } from "./pending-reply.ts";
import type { ClientIdentity } from "./stateless-call.ts";

/** By list: where it is asked for, and what is said when it changes. Templates are told of with the resources. */
const LISTS: readonly { list: ListName; wish: string; of: string }[] = [
  { list: "tools", wish: "toolsListChanged", of: "tools" },
  { list: "prompts", wish: "promptsListChanged", of: "prompts" },
  { list: "resources", wish: "resourcesListChanged", of: "resources" },
  { list: "templates", wish: "resourcesListChanged", of: "resources" },
];
const MOST_NAMED = 1_000;

export interface SubscriptionParts {
  readonly client: ClientIdentity;
  readonly surface: Surface;
  over(subscription: Subscription): void;
}

/** What a client wants to hear of. */
interface Wishes {
  readonly lists: ReadonlySet<string>;
  readonly resources: readonly string[];
  readonly tasks: readonly string[];
}

export class Subscription {
  readonly #parts: SubscriptionParts;
  readonly #reply: PendingReply;
  readonly #origin: Origin;
  readonly #signal = new CallSignal();
  readonly #wishes: Wishes;
  readonly #seen = new Map<ListName, string>();
  /** What came before the client heard that it is listening. */
  #early: [string, Raw | undefined][] | undefined = [];
  #over = false;

  /** Throws RpcError for a filter that cannot be read. */
  constructor(reply: PendingReply, params: Raw, parts: SubscriptionParts) {
    this.#parts = parts;
    this.#reply = reply;
    this.#wishes = readWishes(params, parts.surface, reply.capabilities);
    const uplink: Uplink = {
      notify: (method, about) => this.#updated(method, about),
      request: () =>
        Promise.reject(RpcError.of(METHOD_NOT_FOUND, "a client cannot be asked on a subscription")),
    };
    this.#origin = { ...parts.client, era2026: true, capabilities: reply.capabilities, uplink };
    this.#compare();
    void this.#begin();
  }

  /** The catalog changed: tells the client if a list it wants to hear of did, and says whether. */
  tellChanges(): boolean {
    const due = this.#compare();
    for (const method of due) this.#tell(method, undefined);
    return due.size > 0;
  }

  /** The config changed: what is new in it is to appear in lists. */
  catchUp(account?: string): void {
    const origin = this.#origin;
    if (this.#wishes.lists.size === 0) return;
    if (account === undefined || accountOf(origin.principal) === account) this.#parts.surface.learn?.(origin);
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
    this.#reply.complete(joinObject([["_meta", this.#mark()]]));
  }

  async #begin(): Promise<void> {
    const { lists, resources, tasks } = this.#wishes;
    const agreed = (method: string, key: string, wanted: readonly string[]): Promise<string[]> =>
      Promise.all(wanted.map((value) => this.#subscribe(method, key, value))).then((all) => all.flat());
    const [resourceSubscriptions, taskIds] = await Promise.all([
      agreed("resources/subscribe", "uri", resources),
      agreed(LISTEN, "taskId", tasks),
    ]);
    if (this.#over) return;
    const notifications = {
      ...Object.fromEntries([...lists].map((wish) => [wish, true])),
      ...(resourceSubscriptions.length > 0 && { resourceSubscriptions }),
      ...(taskIds.length > 0 && { taskIds }),
    };
    const early = this.#early ?? [];
    this.#early = undefined;
    this.#tell("notifications/subscriptions/acknowledged", toRaw({ notifications }));
    for (const [method, params] of early) this.#tell(method, params);
  }

  /** What was asked for; nothing where nobody agreed to tell of it. */
  async #subscribe(method: string, key: string, value: string): Promise<readonly string[]> {
    const { surface } = this.#parts;
    try {
      await surface.handle({
        method,
        params: toRaw({ [key]: value }),
        origin: this.#origin,
        signal: this.#signal,
        uplink: this.#origin.uplink,
      });
      return [value];
    } catch {
      return [];
    }
  }

  /** The notifications that are due since it was last called. */
  #compare(): ReadonlySet<string> {
    const now = this.#parts.surface.lists?.(this.#origin) ?? {};
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
    if (method === "notifications/resources/updated" || method === "notifications/tasks")
      this.#tell(method, params);
  }

  #tell(method: string, params: Raw = EMPTY_OBJECT): void {
    if (this.#over) return;
    if (this.#early) this.#early.push([method, params]);
    else this.#reply.notify(method, this.#marked(params));
  }

  #marked(params: Raw): Raw {
    const meta = member(params, "_meta");
    return withMember(params, "_meta", this.#mark(meta && isObject(meta) ? meta : EMPTY_OBJECT));
  }

  #mark(meta: Raw = EMPTY_OBJECT): Raw {
    return withMember(meta, META.subscription, this.#reply.id);
  }
}

/** What is not offered here is left out, and so not promised. */
function readWishes(params: Raw, { capabilities }: Surface, declared: Raw): Wishes {
  const raw = member(params, "notifications");
  if (!raw || !isObject(raw))
    throw RpcError.of(INVALID_PARAMS, "subscriptions/listen needs an object of notifications");
  const wanted = fromRaw(raw) as Record<string, unknown>;
  const offered = capabilities as Record<string, { listChanged?: unknown; subscribe?: unknown } | undefined>;
  const uris = textsAt(wanted, "resourceSubscriptions");
  const tasks = textsAt(wanted, "taskIds");
  if (tasks.length > 0) requireTasks(declared);
  const lists = LISTS.filter(({ wish, of }) => wanted[wish] === true && offered[of]?.listChanged === true);
  return {
    lists: new Set(lists.map(({ wish }) => wish)),
    resources: offered["resources"]?.subscribe === true ? uris : [],
    tasks: offered["tasks"] ? tasks : [],
  };
}

function textsAt(wanted: Record<string, unknown>, key: string): readonly string[] {
  const texts = wanted[key] ?? [];
  if (!Array.isArray(texts) || texts.some((text) => typeof text !== "string") || texts.length > MOST_NAMED)
    throw RpcError.of(INVALID_PARAMS, `${key} must be a list of at most ${MOST_NAMED} texts`);
  return [...new Set(texts as string[])];
}
