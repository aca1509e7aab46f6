/** The menu of the logged-in person: account, theme, keyboard shortcuts, logout. */
import { hrefOf } from "../address.ts";
import { Menu, type MenuItem } from "../components/menu.tsx";
import { toast } from "../components/toasts.tsx";
import { SHELL } from "../pages.ts";
import { logOut, me } from "../session.ts";
import { shellTexts } from "../texts/shell.ts";
import { chooseTheme, THEMES, theme } from "../theme.ts";

export function AccountMenu({ showKeys }: { readonly showKeys: () => void }) {
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
        { label: shellTexts.logOut, onSelect: () => void logOutOrToast() },
      ]}
    >
      <bdi class="account-name cut">{account.name}</bdi>
    </Menu>
  );
}
