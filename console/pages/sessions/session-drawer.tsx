/** The drawer of a connected client, with a button that ends its session. */
import { useSignal } from "@preact/signals";
import { hrefOf } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import { send } from "../../api/client.ts";
import type { ClientSession } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { toast } from "../../components/toasts.tsx";
import { count } from "../../format.ts";
import { refresh } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { KeyLink, ObjectLinks } from "../../parts/object-links.tsx";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { sessionsTexts as texts } from "../../texts/records.ts";
import { replicasTexts } from "../../texts/replicas.ts";
import { useSending } from "../../use-sending.ts";

export function SessionDrawer({ session }: { readonly session: ClientSession }) {
  const asking = useSignal(false);
  const sending = useSending();
  const close = () => go({ page: "sessions", query: address.value.query });
  const end = async () => {
    const done = await sending.run(() =>
      send("DELETE /sessions/:id", undefined, { params: { id: session.id } }),
    );
    if (!done) return;
    toast({ text: texts.ended });
    refresh("/sessions");
    close();
  };
  const { columns } = texts;
  const { client, principal, endpoint, protocolVersion, since, lastSeen, calls, id, replica } = session;
  return (
    <Drawer
      title={client?.name ?? texts.unknownClient}
      onClose={close}
      actions={
        <Button kind="danger" onClick={() => (asking.value = true)}>
          {texts.end}
        </Button>
      }
    >
      <div class="stack">
        <KeyValues
          items={[
            {
              key: columns.principal,
              value:
                principal.kind === "account" ? (
                  <ObjectLinks page="people" to={[{ uuid: principal.id, name: principal.name }]} />
                ) : (
                  <ForeignText text={principal.name} />
                ),
            },
            ...(principal.key ? [{ key: columns.key, value: <KeyLink of={principal.key} /> }] : []),
            {
              key: columns.endpoint,
              mono: true,
              value: <a href={hrefOf({ page: "endpoints", id: endpoint.uuid })}>{endpoint.name}</a>,
            },
            {
              key: columns.client,
              value: <ForeignText text={`${client?.name ?? ""} ${client?.version ?? ""}`} />,
            },
            { key: columns.protocol, value: protocolVersion },
            { key: columns.calls, value: count(calls) },
            { key: columns.since, value: <Ago at={since} /> },
            { key: columns.seen, value: <Ago at={lastSeen} /> },
            ...(replica === undefined ? [] : [{ key: replicasTexts.replica, value: replica, mono: true }]),
            { key: columns.id, value: id, mono: true, copy: id },
          ]}
        />
        <p>
          <a href={hrefOf({ page: "audit", query: { session: id } })}>{texts.calls}</a>
        </p>
      </div>
      {asking.value && (
        <FormDialog
          title={texts.endAsk.title}
          danger
          submit={texts.end}
          sending={sending}
          onSubmit={() => void end()}
          onClose={() => (asking.value = false)}
        >
          <p>{texts.endAsk.text}</p>
        </FormDialog>
      )}
    </Drawer>
  );
}
