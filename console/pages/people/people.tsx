/** Accounts: who they are, what they may do; invitations. */
import { Ago } from "../../ago.tsx";
import type { User } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useList } from "../../live/resource.ts";
import { address, go, setQuery } from "../../navigate.ts";
import { me } from "../../session.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
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
      const shape = { active: "ok", invited: "busy", disabled: "off" } as const;
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
  const { id, query } = address.value;
  const people = useList("/users", {}, { when: (event) => event.type === "admin" });
  const all = people.value.value;
  return (
    <>
      <PageHead
        title={texts.title}
        answer={all && texts.answer(all.length, all.filter(({ invited }) => invited).length)}
        actions={
          <Button kind="primary" onClick={() => setQuery({ invite: "1" }, { replace: false })}>
            {texts.invite}
          </Button>
        }
      />
      <Ready of={people}>
        {(items) => {
          const open = items.find(({ uuid }) => uuid === id);
          return (
            <>
              <Table
                label={texts.list}
                rows={items}
                columns={COLUMNS}
                rowKey={({ uuid }) => uuid}
                rowName={({ email }) => email}
                onOpen={({ uuid }) => go({ page: "people", id: uuid, query })}
                open={id}
                search={query["q"]}
                onSearch={(q) => setQuery({ q })}
                searchLabel={texts.search}
              />
              {open && <PersonDrawer key={open.uuid} user={open} />}
            </>
          );
        }}
      </Ready>
      {query["invite"] && <Invite onClose={() => setQuery({ invite: undefined })} />}
    </>
  );
}

function stateOf({ disabled, invited }: User): "active" | "invited" | "disabled" {
  return disabled ? "disabled" : invited ? "invited" : "active";
}
