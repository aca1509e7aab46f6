/** What one client believes its lists to be, so that it is told of a change exactly when there is one. Compares; neither waits nor sends. */
import type { ListName, ListState, ListStates } from "../surface/surface.ts";

/** Resources and their templates are told of together. */
const NOTIFICATION: Readonly<Record<ListName, string>> = {
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
  resources: "notifications/resources/list_changed",
  templates: "notifications/resources/list_changed",
};

export class ListWatch {
  readonly #seen = new Map<ListName, string>();
  /** Lists it is waiting for: what it will see is not settled. */
  readonly #asked = new Map<ListName, number>();

  /** Whether it ever asked for one. */
  get used(): boolean {
    return this.#asked.size > 0;
  }

  /** It asks for a list; call what is returned with the version it is shown. */
  listing(list: ListName): (version?: string) => void {
    this.#asked.set(list, (this.#asked.get(list) ?? 0) + 1);
    return (version) => {
      this.#asked.set(list, (this.#asked.get(list) ?? 1) - 1);
      if (version !== undefined) this.#seen.set(list, version);
    };
  }

  /**
   * The notifications it is due. What it is told of counts as seen: it will ask. A list it never saw counts as seen as
   * it was when all of it was first known: so it would have listed it.
   */
  due(now: ListStates): readonly string[] {
    const due = new Set<string>();
    for (const [list, { version, complete }] of Object.entries(now) as [ListName, ListState][]) {
      const seen = this.#seen.get(list);
      if (seen === version || this.#asked.get(list) || (seen === undefined && !complete)) continue;
      this.#seen.set(list, version);
      if (seen !== undefined) due.add(NOTIFICATION[list]);
    }
    return [...due];
  }
}
