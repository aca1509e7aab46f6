/** The page Keys: a person's own API keys, or all of them for administrators. */
import { Ago } from "../../ago.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import type { Column } from "../../components/table.tsx";
import { useList } from "../../live/resource.ts";
import { callerColumns } from "../../parts/caller-columns.tsx";
import { useCallers } from "../../parts/use-callers.ts";
import { may } from "../../session.ts";
import { ListPage } from "../../shell/list-page.tsx";
import { keysTexts as texts } from "../../texts/keys.ts";
import { KeyDrawer } from "./key-drawer.tsx";
import { type KeyRow, keyRow } from "./key-row.ts";
import { NewKey } from "./new-key.tsx";
import { useEndpointNames, useOwners } from "./use-names.ts";

const { columns } = texts;
const ABOUT: readonly Column<KeyRow>[] = [
  {
    id: "name",
    head: columns.name,
    value: ({ key }) => key.name,
    cell: ({ key }) => (
      <strong>
        <ForeignText text={key.name} />
      </strong>
    ),
  },
  { id: "access", head: columns.access, value: ({ access }) => access },
  { id: "owner", head: columns.owner, value: ({ owner }) => owner, hideBelow: "medium" },
  {
    id: "prefix",
    head: columns.prefix,
    value: ({ key }) => key.prefix,
    mono: true,
    width: "150px",
    hideBelow: "large",
  },
];
const USE = callerColumns<KeyRow>();
const TIMES: readonly Column<KeyRow>[] = [
  {
    id: "used",
    head: columns.lastUsed,
    named: true,
    width: "110px",
    time: true,
    value: ({ key }) => key.lastUsedAt ?? undefined,
    cell: ({ key }) => (key.lastUsedAt ? <Ago at={key.lastUsedAt} /> : texts.never),
  },
  {
    id: "expires",
    head: columns.expires,
    width: "110px",
    hideBelow: "small",
    value: ({ key }) => key.expiresAt ?? undefined,
    cell: ({ key, expired }) =>
      expired ? texts.expired : key.expiresAt ? <Ago at={key.expiresAt} /> : texts.never,
  },
];

export default function Keys() {
  const endpoints = useEndpointNames();
  const users = useOwners();
  const uses = useCallers(({ key, principal }) => key?.id ?? principal?.id);
  return (
    <ListPage
      page="keys"
      texts={texts}
      of={useList("/api-keys", {}, { when: (event) => event.type === "admin" })}
      summary={(all) => texts.summary(all.length, all.filter(({ lastUsedAt }) => !lastUsedAt).length)}
      rowsOf={(all) => all.map((key) => keyRow(key, { endpoints, users, uses, now: Date.now() }))}
      // Without the right to read sums, a key that is used would look unused.
      columns={may("stats.read") ? [...ABOUT, ...USE, ...TIMES] : [...ABOUT, ...TIMES]}
      sorting={{ column: "used", descending: true }}
      rowKey={({ key }) => key.uuid}
      rowName={({ key }) => key.name}
      create={{
        label: texts.create,
        allowed: may("keys.write"),
        dialog: (onClose) => <NewKey onClose={onClose} />,
      }}
      drawer={(row) => <KeyDrawer key={row.key.uuid} row={row} />}
    />
  );
}
