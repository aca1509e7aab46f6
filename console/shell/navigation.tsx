/** The links to the pages that the person may open, with the number of things that need attention. */
import type { Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { hrefOf, type ShellPage } from "../address.ts";
import type { AttentionItem } from "../api/types.ts";
import { useReplicas } from "../live/replicas.ts";
import { ATTENTION, useResource } from "../live/resource.ts";
import { address } from "../navigate.ts";
import { SHELL } from "../pages.ts";
import { may } from "../session.ts";
import { shellTexts } from "../texts/shell.ts";
import { waitingNow } from "./notices.ts";

const GROUPS: readonly (readonly ShellPage[])[] = [
  ["servers", "tools", "try", "namespaces", "endpoints"],
  ["traffic", "sessions", "audit"],
  ["keys", "people", "requests"],
  ["history", "replicas", "settings"],
];

export function Navigation({ open }: { readonly open: Signal<boolean> }) {
  const attention = useAttention();
  const { page } = address.value;
  // People who may not see the overview start on their account page.
  const home: ShellPage = isAllowed("overview") ? "overview" : "me";
  const replicas = useReplicas();
  const isShown = (name: ShellPage): boolean => isAllowed(name) && (name !== "replicas" || replicas.shown);
  const groups = [[home], ...GROUPS]
    .map((pages) => pages.filter(isShown))
    .filter((pages) => pages.length > 0);
  return (
    <nav id="navigation" class="navigation" data-open={open.value} aria-label={shellTexts.navigation}>
      {groups.map((pages) => (
        <ul key={pages[0]}>
          {pages.map((name) => (
            <li key={name}>
              <a
                class="navigation-link"
                href={hrefOf({ page: name })}
                aria-current={name === page ? "page" : undefined}
                onClick={() => {
                  open.value = false;
                }}
              >
                {shellTexts.pages[name]}
                <Badge n={attention[name] ?? 0} />
              </a>
            </li>
          ))}
        </ul>
      ))}
    </nav>
  );
}

function isAllowed(page: ShellPage): boolean {
  const entry = SHELL[page];
  return entry !== undefined && may(entry.action);
}

function Badge({ n }: { readonly n: number }) {
  if (n === 0) return null;
  return (
    <span class="badge" title={shellTexts.attention(n)}>
      {n}
      <span class="for-screen-readers"> {shellTexts.attention(n)}</span>
    </span>
  );
}

/** Counts the things that need attention, by page. */
const PAGES: Readonly<Partial<Record<AttentionItem["kind"], ShellPage>>> = {
  "server.failed": "servers",
  "server.misconfigured": "servers",
  "server.login": "servers",
  "server.untried": "servers",
  "tools.changed": "tools",
  "tools.suspect": "tools",
  "approvals.waiting": "requests",
  "requests.pending": "requests",
};

function useAttention(): Readonly<Partial<Record<ShellPage, number>>> {
  const items = useResource("/attention", {}, ATTENTION).value.value?.items ?? [];
  const counts: Partial<Record<ShellPage, number>> = {};
  for (const { kind, count = 1 } of items) {
    const page = PAGES[kind];
    if (page) counts[page] = (counts[page] ?? 0) + count;
  }
  const waiting = counts.requests ?? 0;
  useEffect(() => waitingNow(waiting), [waiting]);
  return counts;
}
