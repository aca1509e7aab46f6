/** The page People: accounts, roles, invitations. */
import { urlOf } from "../../api/client.ts";
import type { User } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import type { Column } from "../../components/table.tsx";
import { useList } from "../../live/resource.ts";
import { callerColumns, lastUse } from "../../parts/caller-columns.tsx";
import { type CallerUse, useCallers } from "../../parts/use-callers.ts";
import { me } from "../../session.ts";
import { ListPage } from "../../shell/list-page.tsx";
import { peopleTexts as texts } from "../../texts/people.ts";
import { shellTexts } from "../../texts/shell.ts";
import { usageTexts } from "../../texts/usage.ts";
import { Invite } from "./invite.tsx";
import { PersonDrawer } from "./person-drawer.tsx";

const { columns } = texts;
interface PersonRow {
  readonly user: User;
  readonly use: CallerUse | undefined;
}

const COLUMNS: readonly Column<PersonRow>[] = [
  {
    id: "email",
    head: columns.email,
    value: ({ user }) => user.email,
    cell: ({ user: { email, uuid } }) => (
      <>
        <strong>
          <ForeignText text={email} />
        </strong>
        {uuid === me.value?.account?.uuid && <span class="muted"> {texts.you}</span>}
      </>
    ),
  },
  { id: "role", head: columns.role, width: "130px", value: ({ user }) => shellTexts.roles[user.role] },
  { id: "groups", head: columns.groups, value: ({ user }) => user.groups.join(", "), hideBelow: "medium" },
  {
    id: "state",
    head: columns.state,
    width: "120px",
    value: ({ user }) => stateOf(user),
    cell: ({ user }) => {
      const state = stateOf(user);
      const shape = { active: "ok", invited: "warn", disabled: "off" } as const;
      return <Status state={shape[state]} word={texts.states[state]} />;
    },
  },
  ...callerColumns<PersonRow>(),
  {
    id: "last",
    head: usageTexts.callers.last,
    width: "110px",
    hideBelow: "medium",
    time: true,
    value: ({ use }) => use?.lastAt ?? undefined,
    cell: ({ use }) => lastUse(use),
  },
];

export default function People() {
  const uses = useCallers(({ principal }) => principal?.id);
  return (
    <ListPage
      page="people"
      texts={texts}
      of={useList("/users", {}, { when: (event) => event.type === "admin" })}
      summary={(all) => texts.summary(all.length, all.filter(({ invited }) => invited).length)}
      rowsOf={(all) => all.map((user) => ({ user, use: uses.get(user.uuid) }))}
      columns={COLUMNS}
      rowKey={({ user }) => user.uuid}
      rowName={({ user }) => user.email}
      actions={
        <Button href={urlOf("/usage", { range: "30d", format: "csv" })} title={usageTexts.callers.csvTitle}>
          {usageTexts.callers.csv}
        </Button>
      }
      create={{
        label: texts.invite,
        allowed: true,
        dialog: (onClose) => <Invite onClose={onClose} />,
      }}
      drawer={({ user }) => <PersonDrawer key={user.uuid} user={user} />}
    />
  );
}

function stateOf({ disabled, invited }: User): "active" | "invited" | "disabled" {
  return disabled ? "disabled" : invited ? "invited" : "active";
}
