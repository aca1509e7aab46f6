/** Who is logged in, and what is theirs: account, theme, keys, the way out. */
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
  const out = () => logOut().catch((error: Error) => toast({ kind: "failed", text: error.message }));
  const own: readonly MenuItem[] = SHELL.me
    ? [{ label: shellTexts.pages.me, hint: shellTexts.roles[account.role], href: hrefOf({ page: "me" }) }]
    : [];
  return (
    <Menu
      kind="quiet"
      label={shellTexts.account(account.name)}
      items={[
        ...own,
        "line",
        ...THEMES.map((one) => ({
          label: shellTexts.themes[one],
          checked: theme.value === one,
          onSelect: () => chooseTheme(one),
        })),
        "line",
        { label: shellTexts.showKeys, onSelect: showKeys },
        { label: shellTexts.logOut, onSelect: () => void out() },
      ]}
    >
      <bdi class="account-name cut">{account.name}</bdi>
    </Menu>
  );
}
