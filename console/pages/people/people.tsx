/** The page People: accounts, roles, invitations. */
import { Ago } from "../../ago.tsx";
import type { User } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import type { Column } from "../../components/table.tsx";
import { useList } from "../../live/resource.ts";
import { me } from "../../session.ts";
import { ListPage } from "../../shell/list-page.tsx";
import { peopleTexts as texts } from "../../texts/people.ts";
import { shellTexts } from "../../texts/shell.ts";
import { Invite } from "./invite.tsx";
import { PersonDrawer } from "./person-drawer.tsx";

const { columns } = texts;
const COLUMNS: readonly Column<User>[] = [
  {
    id: "email",
    head: columns.email,
    value: ({ email }) => email,
    cell: ({ email, uuid }) => (
      <>
        <strong>
          <ForeignText text={email} />
        </strong>
        {uuid === me.value?.account?.uuid && <span class="muted"> {texts.you}</span>}
      </>
    ),
  },
  { id: "role", head: columns.role, width: "130px", value: ({ role }) => shellTexts.roles[role] },
  { id: "groups", head: columns.groups, value: ({ groups }) => groups.join(", "), hideBelow: "medium" },
  {
    id: "state",
    head: columns.state,
    width: "120px",
    value: stateOf,
    cell: (user) => {
      const state = stateOf(user);
      const shape = { active: "ok", invited: "warn", disabled: "off" } as const;
      return <Status state={shape[state]} word={texts.states[state]} />;
    },
  },
  {
    id: "created",
    head: columns.created,
    width: "110px",
    hideBelow: "small",
    value: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
];

export default function People() {
  return (
    <ListPage
      page="people"
      texts={texts}
      of={useList("/users", {}, { when: (event) => event.type === "admin" })}
      summary={(all) => texts.summary(all.length, all.filter(({ invited }) => invited).length)}
      rowsOf={(all) => all}
      columns={COLUMNS}
      rowKey={({ uuid }) => uuid}
      rowName={({ email }) => email}
      create={{
        label: texts.invite,
        allowed: true,
        dialog: (onClose) => <Invite onClose={onClose} />,
      }}
      drawer={(user) => <PersonDrawer key={user.uuid} user={user} />}
    />
  );
}

function stateOf({ disabled, invited }: User): "active" | "invited" | "disabled" {
  return disabled ? "disabled" : invited ? "invited" : "active";
}
