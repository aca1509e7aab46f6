/** Edits the servers of a namespace: on or off, and the prefix. */
import type { Namespace } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { CONFIG, useList } from "../../live/resource.ts";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { namespacesTexts } from "../../texts/namespaces.ts";
import { shellTexts } from "../../texts/shell.ts";
import { useObjectDraft } from "../../use-object-draft.ts";
import "./servers-tab.css";

const texts = namespacesTexts.servers;

type NamespaceServer = Namespace["servers"][number];

export function ServersTab({ namespace }: { readonly namespace: Namespace }) {
  const { draft, sending, save } = useObjectDraft("namespaces", namespace);
  const all = useList("/mcp-servers", {}, CONFIG).value.value ?? [];
  const { servers } = draft.value;
  const nameOf = (server: string) => all.find(({ uuid }) => uuid === server)?.name ?? server;
  const set = (at: number, change: Partial<NamespaceServer>) =>
    draft.set({ servers: servers.map((one, index) => (index === at ? { ...one, ...change } : one)) });
  const left = all.filter(({ uuid }) => servers.every(({ server }) => server !== uuid));
  return (
    <div class="stack">
      <p class="muted">{servers.length === 0 ? texts.none : texts.text}</p>
      {servers.length > 0 && (
        <ul class="panel">
          <li class="placed-server placed-head" aria-hidden="true">
            <span>{texts.columns.server}</span>
            <span>{texts.columns.prefix}</span>
            <span>{texts.columns.on}</span>
          </li>
          {servers.map((entry, at) => {
            const name = nameOf(entry.server);
            return (
              <li key={entry.server} class="placed-server">
                <strong class="mono">
                  <ForeignText text={name} />
                </strong>
                <TextField
                  label={texts.prefixOf(name)}
                  labelHidden
                  placeholder={name}
                  mono
                  value={entry.prefix ?? ""}
                  error={sending.faultOf(`/servers/${at}/prefix`)}
                  onInput={(prefix) => set(at, { prefix: prefix || undefined } as Partial<NamespaceServer>)}
                />
                <SwitchField
                  label={texts.onOf(name)}
                  labelHidden
                  value={!entry.disabled}
                  onInput={(on) => set(at, { disabled: !on })}
                />
                <Button
                  size="small"
                  label={shellTexts.order.remove(name)}
                  onClick={() => draft.set({ servers: servers.filter((_, index) => index !== at) })}
                >
                  {texts.remove}
                </Button>
              </li>
            );
          })}
        </ul>
      )}
      {servers.length > 0 && <p class="field-hint">{texts.prefixHint}</p>}
      {left.length > 0 && (
        <SelectField
          label={texts.add}
          labelHidden
          none={texts.add}
          value=""
          options={left.map(({ uuid, name }) => ({ value: uuid, label: name }))}
          onInput={(server) => server && draft.set({ servers: [...servers, { server }] })}
        />
      )}
      <DraftBar draft={draft} sending={sending} save={texts.save} onSave={save} />
    </div>
  );
}
