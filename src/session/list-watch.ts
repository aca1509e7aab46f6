/**
 * Remembers which version of each list one client has seen, to decide when it needs a list_changed
 * notification. Neither waits nor sends.
 */
import type { ListName, ListState, ListStates } from "../surface/surface.ts";

/** Resources, templates and skills share a notification: the extension of skills has none of its own. */
const NOTIFICATION: Readonly<Record<ListName, string>> = {
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
  resources: "notifications/resources/list_changed",
  templates: "notifications/resources/list_changed",
  skills: "notifications/resources/list_changed",
};

export class ListWatch {
  readonly #seen: Partial<Record<ListName, string>> = {};
  /** The number of list requests in flight, for each list that was ever requested; undefined if none was. */
  #pending: Partial<Record<ListName, number>> | undefined;

  /** The client has requested at least one list. */
  get used(): boolean {
    return this.#pending !== undefined;
  }

  /**
   * What the client has seen is not known: every list that it does not request itself will be due once, when
   * it is complete.
   */
  forget(): void {
    for (const list of Object.keys(NOTIFICATION) as ListName[]) this.#seen[list] = "";
  }

  /**
   * Called when the client requests a list. The returned function must be called with the version that was
   * sent, or without one if it failed.
   */
  listing(list: ListName): (version?: string) => void {
    this.#pending ??= {};
    const pending = this.#pending;
    pending[list] = (pending[list] ?? 0) + 1;
    return (version) => {
      pending[list] = (pending[list] ?? 1) - 1;
      if (version !== undefined) this.#seen[list] = version;
    };
  }

  /**
   * Returns the notifications to send. A reported version counts as seen, because the client will request it.
   * For a list that the client never requested, the first complete version counts as seen.
   */
  due(now: ListStates): readonly string[] {
    const due = new Set<string>();
    for (const [list, { version, complete }] of Object.entries(now) as [ListName, ListState][]) {
      const seen = this.#seen[list];
      if (seen === version || this.#pending?.[list] || (!seen && !complete)) continue;
      this.#seen[list] = version;
      if (seen !== undefined) due.add(NOTIFICATION[list]);
    }
    return [...due];
  }
}
