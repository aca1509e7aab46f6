/** Lists the OAuth clients that a person allowed to act for them. */
import { Ago } from "../../ago.tsx";
import { send } from "../../api/client.ts";
import type { Grant } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { toast } from "../../components/toasts.tsx";
import { refresh, useList } from "../../live/resource.ts";
import { Ready } from "../../shell/ready.tsx";
import { Refused } from "../../shell/refused.tsx";
import { peopleTexts } from "../../texts/people.ts";
import { useSending } from "../../use-sending.ts";

const texts = peopleTexts.drawer;

/** `of` is the uuid of an account. Default: the logged-in person. */
export function Grants({ of }: { readonly of?: string }) {
  const theirs = useList("/users/:uuid/grants", of === undefined ? undefined : { uuid: of }, {});
  const own = useList("/me/grants", of === undefined ? {} : undefined, {});
  const sending = useSending();
  const revoke = async ({ id, client }: Grant) => {
    const done = await sending.run(() =>
      of === undefined
        ? send("DELETE /me/grants/:grant", undefined, { params: { grant: id } })
        : send("DELETE /users/:uuid/grants/:grant", undefined, { params: { uuid: of, grant: id } }),
    );
    if (!done) return;
    toast({ text: texts.revoked(client.name) });
    refresh(of === undefined ? "/me/grants" : "/users");
  };
  return (
    <section class="stack-small">
      {of === undefined ? <h2>{texts.ownGrants}</h2> : <h3>{texts.grants}</h3>}
      <Refused problem={sending.problem} />
      <Ready of={of === undefined ? own : theirs}>
        {(items) =>
          items.length === 0 ? (
            <p class="muted">{of === undefined ? texts.noOwnGrants : texts.noGrants}</p>
          ) : (
            <Table
              label={of === undefined ? texts.ownGrants : texts.grants}
              rows={items}
              columns={columnsFor((grant) => void revoke(grant))}
              rowKey={({ id }) => id}
            />
          )
        }
      </Ready>
    </section>
  );
}

function columnsFor(onRevoke: (grant: Grant) => void): readonly Column<Grant>[] {
  return [
    { id: "client", head: texts.columns.client, cell: ({ client }) => <ForeignText text={client.name} /> },
    {
      id: "endpoint",
      head: texts.columns.endpoint,
      mono: true,
      cell: ({ endpoint }) => <ForeignText text={endpoint} />,
    },
    {
      id: "used",
      head: texts.columns.used,
      width: "100px",
      cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} />,
    },
    {
      id: "revoke",
      head: "",
      width: "90px",
      cell: (grant) => (
        <Button size="small" kind="danger" onClick={() => onRevoke(grant)}>
          {texts.revoke}
        </Button>
      ),
    },
  ];
}
