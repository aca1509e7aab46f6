/** Adds servers from the config of a client, an address or a command. */
import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { CodeField } from "../../components/code-field.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Form } from "../../components/form.tsx";
import { STATES, useList } from "../../live/resource.ts";
import { Refused } from "../../shell/refused.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { AddedServers } from "./added-servers.tsx";
import { NamespaceField, useNamespaceChoice } from "./namespace-field.tsx";
import { type Entries, readPasted } from "./read-pasted.ts";
import { commandOrUrl } from "./server-state.ts";
import { useAddServers } from "./use-add-servers.ts";

const texts = serverTexts.adding;

export function AddPaste({ onDone }: { readonly onDone: () => void }) {
  const text = useSignal("");
  const choice = useNamespaceChoice();
  const adding = useAddServers();
  const read = readPasted(text.value);
  const entries = read && "entries" in read ? read.entries : undefined;
  if (adding.added) return <AddedServers adding={adding} onDone={onDone} />;
  return (
    <Form
      onSubmit={() => {
        if (entries) void adding.add(entries, choice.chosen);
      }}
    >
      <CodeField
        label={texts.paste}
        hint={texts.pasteHint}
        placeholder={texts.pasteExample}
        rows={10}
        autofocus
        error={read && "problem" in read ? texts[read.problem] : undefined}
        value={text.value}
        onInput={(next) => {
          adding.clear();
          text.value = next;
        }}
      />
      {entries && <FoundServers entries={entries} />}
      {entries && <NamespaceField choice={choice} />}
      <Refused problem={adding.problem} />
      <div class="line">
        <Button type="submit" kind="primary" busy={adding.busy} disabled={!entries}>
          {texts.add(entries ? Object.keys(entries).length : 1)}
        </Button>
      </div>
    </Form>
  );
}

/** Shows the servers found in the pasted text before anything is added. */
function FoundServers({ entries }: { readonly entries: Entries }) {
  const servers = useList("/mcp-servers", {}, STATES).value.value ?? [];
  const taken = new Set(servers.map(({ name }) => name.toLowerCase()));
  const names = Object.keys(entries);
  return (
    <section class="stack-small">
      <h3>{texts.found(names.length)}</h3>
      <ul class="found">
        {names.map((name) => (
          <li key={name}>
            <strong class="mono">
              <ForeignText text={name} />
            </strong>
            <span class="mono muted cut">
              <ForeignText text={commandOrUrl(entries[name] as Parameters<typeof commandOrUrl>[0])} />
            </span>
            {taken.has(name.toLowerCase()) && <span class="small warn-text">{texts.exists}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
