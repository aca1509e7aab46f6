/** The bar above every page: search, state of the live connection, account menu. */
import type { Signal } from "@preact/signals";
import { StatusShape } from "../components/status.tsx";
import { COMMAND_KEY } from "../keys.ts";
import { type Connection, connection } from "../live/events.ts";
import { shellTexts } from "../texts/shell.ts";
import { AccountMenu } from "./account-menu.tsx";
import { showPalette } from "./palette-state.ts";

const SHAPES = { live: "ok", reconnecting: "busy", offline: "bad" } as const satisfies Record<
  Connection,
  string
>;

export function Header({
  menuOpen,
  showKeys,
}: {
  readonly menuOpen: Signal<boolean>;
  readonly showKeys: () => void;
}) {
  const state = connection.value;
  return (
    <header class="shell-header">
      <button
        type="button"
        class="header-button navigation-button"
        aria-expanded={menuOpen.value}
        aria-controls="navigation"
        onClick={() => {
          menuOpen.value = !menuOpen.value;
        }}
      >
        {shellTexts.menu}
      </button>
      <a class="product" href="/">
        {shellTexts.product}
      </a>
      <button type="button" class="search-button" aria-keyshortcuts="Control+K Meta+K" onClick={showPalette}>
        <span>{shellTexts.search}</span>
        <kbd>{COMMAND_KEY} K</kbd>
      </button>
      <span class="live" role="status" title={shellTexts.connectionTitle[state]}>
        <StatusShape state={SHAPES[state]} />
        <span class="live-word">{shellTexts.connection[state]}</span>
      </span>
      <AccountMenu showKeys={showKeys} />
    </header>
  );
}
