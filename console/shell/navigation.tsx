/** The links to the pages that the person may open, with the number of things that need attention. */
import type { Signal } from "@preact/signals";
import { hrefOf, type ShellPage } from "../address.ts";
import { address } from "../navigate.ts";
import { SHELL } from "../pages.ts";
import { may } from "../session.ts";
import { shellTexts } from "../texts/shell.ts";
import { useAttention } from "./attention.ts";

const GROUPS: readonly (readonly ShellPage[])[] = [
  ["servers", "tools", "try", "namespaces", "endpoints"],
  ["traffic", "sessions", "audit"],
  ["keys", "people", "requests"],
  ["history", "settings"],
];

export function Navigation({ open }: { readonly open: Signal<boolean> }) {
  const attention = useAttention();
  const { page } = address.value;
  // People who may not see the overview start on their account page.
  const home: ShellPage = isAllowed("overview") ? "overview" : "me";
  const groups = [[home], ...GROUPS]
    .map((pages) => pages.filter(isAllowed))
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
