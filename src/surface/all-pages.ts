/** Reads a whole list of a surface page by page, as a client would. */
import type { Origin } from "../kernel/call.ts";
import { fromRaw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import type { ListName, Surface } from "./surface.ts";

/** For each list: the method, and the member of the result. */
const LISTS: Readonly<Record<ListName, readonly [method: string, member: string]>> = {
  tools: ["tools/list", "tools"],
  prompts: ["prompts/list", "prompts"],
  resources: ["resources/list", "resources"],
  templates: ["resources/templates/list", "resourceTemplates"],
  skills: ["skills/list", "skills"],
};

export async function allPages<T>(surface: Surface, list: ListName, origin: Origin): Promise<readonly T[]> {
  const items: T[] = [];
  const [method, member] = LISTS[list];
  const { uplink } = origin;
  for (let cursor: string | undefined; ; ) {
    const params = cursor === undefined ? undefined : toRaw({ cursor });
    const signal = new CallSignal();
    const page = await surface.handle({ method, params, origin, signal, uplink });
    const read = fromRaw(page) as { readonly nextCursor?: string; readonly [member: string]: unknown };
    items.push(...((read[member] ?? []) as readonly T[]));
    cursor = read.nextCursor;
    if (cursor === undefined) return items;
  }
}
