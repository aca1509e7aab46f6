/**
 * One `subscriptions/listen` request: sends the notifications that its client asked for, until either side
 * ends it.
 */
import type { Origin, Uplink } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { accountOf, type Principal } from "../../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { META } from "../../rpc/era-2026/names.ts";
import { hasManyValues } from "../../rpc/many-values.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { isObject, joinObject, member, withMember } from "../../rpc/slice.ts";
import type { ListName, Surface } from "../../surface/surface.ts";
import { requireTasks } from "../../surface/task/era-2026-form.ts";
import { LISTEN } from "../../surface/task/task-requests.ts";
import type { PendingReply } from "./pending-reply.ts";
import type { ClientIdentity } from "./stateless-call.ts";

/**
 * For each list: its key in the filter, and its capability, which also names the notification. Templates and
 * skills share those of resources.
 */
const LISTS: readonly { list: ListName; key: string; capability: string }[] = [
  { list: "tools", key: "toolsListChanged", capability: "tools" },
  { list: "prompts", key: "promptsListChanged", capability: "prompts" },
  { list: "resources", key: "resourcesListChanged", capability: "resources" },
  { list: "templates", key: "resourcesListChanged", capability: "resources" },
  { list: "skills", key: "resourcesListChanged", capability: "resources" },
];
const MAX_NAMED = 1_000;

export interface SubscriptionParts {
  readonly client: ClientIdentity;
  readonly surface: Surface;
  onEnd(subscription: Subscription): void;
}

/** Which notifications a client wants. */
interface Filter {
  /** Keys of the filter, e.g. `toolsListChanged`. */
  readonly lists: ReadonlySet<string>;
  readonly resources: readonly string[];
  readonly tasks: readonly string[];
}

export class Subscription {
  readonly #parts: SubscriptionParts;
  readonly #reply: PendingReply;
  readonly #origin: Origin;
  readonly #signal = new CallSignal();
  readonly #filter: Filter;
  readonly #seen = new Map<ListName, string>();
  /** Notifications that came before the acknowledgement; undefined after it. */
  #queued: [string, Raw | undefined][] | undefined = [];
  #ended = false;

  /** Throws RpcError for a filter that cannot be read. */
  constructor(reply: PendingReply, params: Raw, parts: SubscriptionParts) {
    this.#parts = parts;
    this.#reply = reply;
    this.#filter = readFilter(params, parts.surface, reply.capabilities);
    const uplink: Uplink = {
      notify: (method, about) => this.#updated(method, about),
      request: () =>
        Promise.reject(RpcError.of(METHOD_NOT_FOUND, "a client cannot be asked on a subscription")),
    };
    this.#origin = { ...parts.client, era2026: true, capabilities: reply.capabilities, uplink };
    this.#compare();
    void this.#begin();
  }

  get principal(): Principal {
    return this.#parts.client.principal;
  }

  /**
   * Called when the catalog changed. Notifies the client if a list in its filter changed, and returns
   * whether.
   */
  tellChanges(): boolean {
    const due = this.#compare();
    for (const method of due) this.#notify(method, undefined);
    return due.size > 0;
  }

  /** Called when the config changed. Loads the lists of new servers, if the filter has lists. */
  loadMissingLists(account?: string): void {
    const origin = this.#origin;
    if (this.#filter.lists.size === 0) return;
    if (account === undefined || accountOf(origin.principal) === account)
      this.#parts.surface.loadMissing?.(origin);
  }

  cancel(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#signal.abort(new Error("the client no longer listens"));
    this.#parts.onEnd(this);
  }

  /** Ends the subscription from our side, with a result. */
  end(): void {
    if (this.#ended) return;
    this.cancel();
    this.#reply.complete(joinObject([["_meta", this.#metaWithId()]]));
  }

  async #begin(): Promise<void> {
    const { lists, resources, tasks } = this.#filter;
    const resourceSubscriptions = await this.#subscribeAll("resources/subscribe", "uri", resources);
    const taskIds = await this.#subscribeAll(LISTEN, "taskId", tasks);
    if (this.#ended) return;
    const notifications = {
      ...Object.fromEntries([...lists].map((key) => [key, true])),
      ...(resourceSubscriptions.length > 0 && { resourceSubscriptions }),
      ...(taskIds.length > 0 && { taskIds }),
    };
    const queued = this.#queued ?? [];
    this.#queued = undefined;
    this.#notify("notifications/subscriptions/acknowledged", toRaw({ notifications }));
    for (const [method, params] of queued) this.#notify(method, params);
  }

  /**
   * One after the other, as if the client had sent a request for each. Ends at a limit. Returns the values
   * that succeeded.
   */
  async #subscribeAll(method: string, key: string, wanted: readonly string[]): Promise<readonly string[]> {
    const { surface } = this.#parts;
    const done: string[] = [];
    for (const value of wanted) {
      if (this.#ended) break;
      try {
        await surface.handle({
          method,
          params: toRaw({ [key]: value }),
          origin: this.#origin,
          signal: this.#signal,
          uplink: this.#origin.uplink,
        });
        done.push(value);
      } catch (error) {
        if (MetaMcpError.is(error) && error.code === "rate_limited") break;
      }
    }
    return done;
  }

  /** Returns the notifications for lists that changed since the last call. */
  #compare(): ReadonlySet<string> {
    const now = this.#parts.surface.lists?.(this.#origin) ?? {};
    const due = new Set<string>();
    for (const { list, key, capability } of LISTS) {
      const version = now[list]?.version;
      if (version === undefined || !this.#filter.lists.has(key)) continue;
      const before = this.#seen.get(list);
      this.#seen.set(list, version);
      if (before !== undefined && before !== version) due.add(`notifications/${capability}/list_changed`);
    }
    return due;
  }

  #updated(method: string, params: Raw | undefined): void {
    if (method === "notifications/resources/updated" || method === "notifications/tasks")
      this.#notify(method, params);
  }

  #notify(method: string, params: Raw = EMPTY_OBJECT): void {
    if (this.#ended) return;
    if (this.#queued) this.#queued.push([method, params]);
    else this.#reply.notify(method, this.#withSubscriptionId(params));
  }

  #withSubscriptionId(params: Raw): Raw {
    const meta = member(params, "_meta");
    return withMember(params, "_meta", this.#metaWithId(meta && isObject(meta) ? meta : EMPTY_OBJECT));
  }

  #metaWithId(meta: Raw = EMPTY_OBJECT): Raw {
    return withMember(meta, META.subscription, this.#reply.id);
  }
}

/**
 * Leaves out what the surface does not offer, so that it is not acknowledged. Throws RpcError for an invalid
 * filter.
 */
function readFilter(params: Raw, { capabilities }: Surface, declared: Raw): Filter {
  const raw = member(params, "notifications");
  if (!raw || !isObject(raw) || hasManyValues(raw, 3 * MAX_NAMED, 3 * MAX_NAMED))
    throw RpcError.of(INVALID_PARAMS, "subscriptions/listen needs an object of notifications");
  const wanted = fromRaw(raw) as Record<string, unknown>;
  const offered = capabilities as Record<string, { listChanged?: unknown; subscribe?: unknown } | undefined>;
  const uris = textsAt(wanted, "resourceSubscriptions");
  const tasks = textsAt(wanted, "taskIds");
  if (tasks.length > 0) requireTasks(declared);
  const lists = LISTS.filter(
    ({ key, capability }) => wanted[key] === true && offered[capability]?.listChanged === true,
  );
  return {
    lists: new Set(lists.map(({ key }) => key)),
    resources: offered["resources"]?.subscribe === true ? uris : [],
    tasks: offered["tasks"] ? tasks : [],
  };
}

function textsAt(wanted: Record<string, unknown>, key: string): readonly string[] {
  const texts = wanted[key] ?? [];
  if (!Array.isArray(texts) || texts.some((text) => typeof text !== "string") || texts.length > MAX_NAMED)
    throw RpcError.of(INVALID_PARAMS, `${key} must be a list of at most ${MAX_NAMED} texts`);
  return [...new Set(texts as string[])];
}
