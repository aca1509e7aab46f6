/** Which of many problems the overview names. Pure. */
import type { AttentionItem } from "../../api/types.ts";

const MAX_ITEMS = 8;
/** Of many failing servers, so that they do not hide what waits for a decision. */
const MAX_SERVERS = 5;

export const SERVER_STATES: ReadonlySet<string> = new Set([
  "server.failed",
  "server.misconfigured",
  "server.login",
  "server.untried",
] satisfies AttentionItem["kind"][]);

/** In their order. */
export function shownItems<T extends Pick<AttentionItem, "kind">>(items: readonly T[]): readonly T[] {
  const isServer = ({ kind }: T): boolean => SERVER_STATES.has(kind);
  const failing = items.filter(isServer).slice(0, items.length > MAX_ITEMS ? MAX_SERVERS : MAX_ITEMS);
  const others = items.filter((item) => !isServer(item)).slice(0, MAX_ITEMS);
  return items.filter((item) => failing.includes(item) || others.includes(item));
}
