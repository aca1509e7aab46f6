/** The drawer of a requested server: what would run, the values it needs, and the decision. */
import { useSignal } from "@preact/signals";
import { hrefOf } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import { send } from "../../api/client.ts";
import type { ProvisionRequest } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { toast } from "../../components/toasts.tsx";
import { CONFIG, refresh, useList } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { PersonLink } from "../../parts/person-link.tsx";
import { Refused } from "../../shell/refused.tsx";
import { requestsTexts } from "../../texts/requests.ts";
import { useSending } from "../../use-sending.ts";

const texts = requestsTexts.servers;

export function ServerRequestDrawer({ request }: { readonly request: ProvisionRequest }) {
  const { name, state, principal, endpoint, intent, at, entry, by, decidedAt, reason } = request;
  return (
    <Drawer
      title={name}
      titleMono
      subtitle={texts.states[state]}
      onClose={() => go({ page: "requests", query: { tab: "servers" } })}
    >
      <div class="stack">
        <KeyValues
          items={[
            { key: texts.columns.intent, value: <ForeignText text={intent} /> },
            { key: texts.columns.who, value: <PersonLink of={principal} /> },
            {
              key: texts.columns.endpoint,
              value: (
                <a href={hrefOf({ page: "endpoints", id: endpoint.uuid })}>
                  <bdi>{endpoint.name}</bdi>
                </a>
              ),
              mono: true,
            },
            { key: texts.columns.at, value: <Ago at={at} /> },
            ...(by ? [{ key: requestsTexts.calls.decidedBy, value: <PersonLink of={by} /> }] : []),
            ...(decidedAt ? [{ key: requestsTexts.calls.decidedAt, value: <Ago at={decidedAt} /> }] : []),
            ...(reason ? [{ key: texts.reason, value: <ForeignText text={reason} /> }] : []),
          ]}
        />
        <h3>{texts.runs}</h3>
        <JsonTree label={texts.runs} value={entry} />
        {state === "pending" && <Decide request={request} />}
      </div>
    </Drawer>
  );
}

function Decide({ request: { uuid, name, missing } }: { readonly request: ProvisionRequest }) {
  const namespaces = useList("/namespaces", {}, CONFIG).value.value ?? [];
  const namespace = useSignal("");
  const values = useSignal<Readonly<Record<string, string>>>({});
  const reason = useSignal("");
  const sending = useSending();
  const options = { params: { uuid } };
  const decided = (text: string) => {
    toast({ text });
    refresh("/provision-requests");
  };
  const approve = () =>
    sending.run(async () => {
      const body = {
        ...(namespace.value && { namespace: namespace.value }),
        ...(missing.length > 0 && { values: values.value }),
      };
      await send("POST /provision-requests/:uuid/approve", body, options);
      decided(texts.approved(name));
    });
  const refuse = () =>
    sending.run(async () => {
      const body = reason.value ? { reason: reason.value } : {};
      await send("POST /provision-requests/:uuid/refuse", body, options);
      decided(texts.refused);
    });
  return (
    <>
      <SelectField
        label={texts.namespace}
        none={texts.first}
        value={namespace.value}
        options={namespaces.map((one) => ({ value: one.uuid, label: one.name }))}
        onInput={(value) => (namespace.value = value)}
      />
      {missing.length > 0 && <h3>{texts.missing}</h3>}
      {missing.map((variable) => (
        <TextField
          key={variable}
          label={variable}
          type="password"
          mono
          required
          value={values.value[variable] ?? ""}
          onInput={(value) => (values.value = { ...values.value, [variable]: value })}
        />
      ))}
      <TextField
        label={texts.reason}
        optional
        value={reason.value}
        onInput={(value) => (reason.value = value)}
      />
      <Refused problem={sending.problem} />
      <div class="line">
        <Button kind="primary" busy={sending.busy} onClick={() => void approve()}>
          {texts.approve}
        </Button>
        <Button kind="danger" onClick={() => void refuse()}>
          {texts.refuse}
        </Button>
      </div>
    </>
  );
}
