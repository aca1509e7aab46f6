/** The servers that require a personal login: the state of each login, and missing secrets. */
import { hrefOf } from "../../address.ts";
import type { OwnServer } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import type { Column } from "../../components/table.tsx";
import { type RefreshRule, useList } from "../../live/resource.ts";
import { LoginButtons, LoginStatus } from "../../parts/server-login.tsx";
import { loginTexts as texts } from "../../texts/logins.ts";
import { ListSection } from "./list-section.tsx";

const LOGINS: RefreshRule = { on: ["revision", "login"] };

export function MyLogins({ onAddSecret }: { readonly onAddSecret: (name: string) => void }) {
  return (
    <ListSection
      texts={texts}
      of={useList("/me/logins", {}, LOGINS)}
      columns={columnsFor(onAddSecret)}
      rowKey={({ server }) => server}
      rowName={({ name }) => name}
    />
  );
}

function columnsFor(onAddSecret: (name: string) => void): readonly Column<OwnServer>[] {
  return [
    { id: "server", head: texts.columns.server, width: "160px", mono: true, value: ({ name }) => name },
    { id: "state", head: texts.columns.state, cell: (entry) => <LoginStatus {...entry} /> },
    {
      id: "act",
      head: "",
      width: "200px",
      align: "end",
      named: false,
      cell: (entry) => <NextStep entry={entry} onAddSecret={onAddSecret} />,
    },
  ];
}

/** The button that is needed next. A missing secret comes first, because a login may need it. */
function NextStep({
  entry: { server: uuid, name, needs, missing = [], login },
  onAddSecret,
}: {
  readonly entry: OwnServer;
  readonly onAddSecret: (name: string) => void;
}) {
  const [secret] = missing;
  if (secret !== undefined)
    return (
      <Button
        size="small"
        kind="primary"
        label={`${texts.addSecret}: ${secret}`}
        onClick={() => onAddSecret(secret)}
      >
        {texts.addSecret}
      </Button>
    );
  if (needs === "values") return null;
  return <LoginButtons server={{ uuid, name }} of="me" login={login} returnTo={hrefOf({ page: "me" })} />;
}
