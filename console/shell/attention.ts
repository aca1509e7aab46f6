/** Counts the things that need attention, by page. */
import type { ShellPage } from "../address.ts";
import type { AttentionItem } from "../api/types.ts";
import { ATTENTION, useResource } from "../live/resource.ts";

const PAGES: Readonly<Partial<Record<AttentionItem["kind"], ShellPage>>> = {
  "server.failed": "servers",
  "server.misconfigured": "servers",
  "server.login": "servers",
  "tools.changed": "tools",
  "approvals.waiting": "requests",
  "requests.pending": "requests",
};

export function useAttention(): Readonly<Partial<Record<ShellPage, number>>> {
  const items = useResource("/attention", {}, ATTENTION).value.value?.items ?? [];
  const counts: Partial<Record<ShellPage, number>> = {};
  for (const { kind, count = 1 } of items) {
    const page = PAGES[kind];
    if (page) counts[page] = (counts[page] ?? 0) + count;
  }
  return counts;
}
