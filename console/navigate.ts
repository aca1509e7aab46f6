/** Holds the current address and navigates to others. */
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Address, hrefOf, parseAddress, type Target } from "./address.ts";

const current = signal<Address>(parseAddress(location));

export const address: ReadonlySignal<Address> = current;

export function go(target: Target | string, { replace = false } = {}): void {
  const href = typeof target === "string" ? target : hrefOf(target);
  if (href !== location.pathname + location.search) {
    if (replace) history.replaceState(null, "", href);
    else history.pushState(null, "", href);
  }
  current.value = parseAddress(location);
}

/**
 * Changes query parameters of this page; undefined removes one. By default it adds no history entry, because
 * filters should not.
 */
export function setQuery(
  change: Readonly<Record<string, string | undefined>>,
  { replace = true } = {},
): void {
  const { page, id, query } = current.peek();
  if (page !== "missing") go({ page, id, query: { ...query, ...change } }, { replace });
}

/** Returns the current path and query, to come back to after a login. */
export function here(): string {
  return location.pathname + location.search;
}

/**
 * Makes plain `<a href>` links within the console navigate without loading a document. Called once, at start.
 */
export function followLinks(): void {
  addEventListener("popstate", () => {
    current.value = parseAddress(location);
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link?.href || !plain || event.defaultPrevented || link.target || link.hasAttribute("download"))
      return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || parseAddress(url).page === "missing") return;
    event.preventDefault();
    go(url.pathname + url.search);
  });
}
