/** The bar above every page: search, state of the live connection, account menu. */
import type { Signal } from "@preact/signals";
import { hrefOf } from "../address.ts";
import { Menu, type MenuItem } from "../components/menu.tsx";
import { StatusShape } from "../components/status.tsx";
import { toast } from "../components/toasts.tsx";
import { COMMAND_KEY } from "../keys.ts";
import { type Connection, connection } from "../live/events.ts";
import { SHELL } from "../pages.ts";
import { logOut, me } from "../session.ts";
import { shellTexts } from "../texts/shell.ts";
import { chooseTheme, THEMES, theme } from "../theme.ts";
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

/** The menu of the logged-in person: account, theme, keyboard shortcuts, logout. */
function AccountMenu({ showKeys }: { readonly showKeys: () => void }) {
  const account = me.value;
  if (!account) return null;
  const logOutOrToast = () =>
    logOut().catch((error: Error) => toast({ kind: "failed", text: error.message }));
  const accountItems: readonly MenuItem[] = SHELL.me
    ? [{ label: shellTexts.pages.me, hint: shellTexts.roles[account.role], href: hrefOf({ page: "me" }) }]
    : [];
  return (
    <Menu
      kind="quiet"
      label={shellTexts.account(account.name)}
      items={[
        ...accountItems,
        "line",
        ...THEMES.map((one) => ({
          label: shellTexts.themes[one],
          checked: theme.value === one,
          onSelect: () => chooseTheme(one),
        })),
        "line",
        { label: shellTexts.showKeys, onSelect: showKeys },
        { label: shellTexts.documentation, href: "/docs/console.md", hint: account.gateway.version },
        { label: shellTexts.logOut, onSelect: () => void logOutOrToast() },
      ]}
    >
      <bdi class="account-name cut">{account.name}</bdi>
    </Menu>
  );
}
