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
import { type Entry, type ReadPasted, readPasted } from "./read-pasted.ts";
import { commandOrUrl } from "./server-state.ts";
import { useAddServers } from "./use-add-servers.ts";

const texts = serverTexts.adding;

export function AddPaste({ onDone }: { readonly onDone: () => void }) {
  const text = useSignal("");
  /** What was ticked or unticked by hand. */
  const ticked = useSignal<Readonly<Record<string, boolean>>>({});
  const choice = useNamespaceChoice();
  const adding = useAddServers();
  const servers = useList("/mcp-servers", {}, STATES).value.value ?? [];
  const taken = new Set(servers.map(({ name }) => name.toLowerCase()));
  const read = readPasted(text.value);
  const found = read && "entries" in read ? read.entries : {};
  const rows = Object.entries(found).map(([name, entry]) => {
    const exists = taken.has(name.toLowerCase());
    return { name, entry, exists, chosen: ticked.value[name] ?? !exists };
  });
  const chosen = rows.filter((row) => row.chosen);
  const added = chosen.filter(({ exists }) => !exists).length;
  if (adding.added) return <AddedServers adding={adding} onDone={onDone} />;
  return (
    <Form
      onSubmit={() => {
        const entries = Object.fromEntries(chosen.map(({ name, entry }) => [name, entry]));
        if (chosen.length > 0) void adding.add(entries, choice.chosen);
      }}
    >
      <CodeField
        label={texts.paste}
        hint={texts.pasteHint}
        placeholder={texts.pasteExample}
        rows={10}
        autofocus
        error={read && problemIn(read)}
        value={text.value}
        onInput={(next) => {
          adding.clear();
          text.value = next;
        }}
      />
      {rows.length > 0 && (
        <FoundServers rows={rows} onTick={(name, on) => (ticked.value = { ...ticked.value, [name]: on })} />
      )}
      {chosen.length > 0 && <NamespaceField choice={choice} />}
      <Refused problem={adding.problem} />
      <div class="line">
        <Button type="submit" kind="primary" busy={adding.busy} disabled={chosen.length === 0}>
          {chosen.length === 0 ? texts.add(1, 0) : texts.add(added, chosen.length - added)}
        </Button>
      </div>
    </Form>
  );
}

function problemIn(read: ReadPasted): string | undefined {
  if (!("problem" in read)) return undefined;
  return read.problem === "none" ? texts.none : texts.json(read.line, read.reason);
}

interface FoundRow {
  readonly name: string;
  readonly entry: Entry;
  /** A server has the name. */
  readonly exists: boolean;
  readonly chosen: boolean;
}

interface FoundServersProps {
  readonly rows: readonly FoundRow[];
  readonly onTick: (name: string, on: boolean) => void;
}

/** Shows the servers found in the pasted text, of which some can be left out. */
function FoundServers({ rows, onTick }: FoundServersProps) {
  return (
    <section class="stack-small">
      <h3>{texts.found(rows.length)}</h3>
      <ul class="found">
        {rows.map(({ name, entry, exists, chosen }) => (
          <li key={name}>
            <label class="found-tick">
              <input
                type="checkbox"
                class="checkbox"
                checked={chosen}
                onChange={(event) => onTick(name, event.currentTarget.checked)}
              />
              <strong class="mono">
                <ForeignText text={name} />
              </strong>
            </label>
            <span class="mono muted cut">
              <ForeignText text={commandOrUrl(entry as Parameters<typeof commandOrUrl>[0])} />
            </span>
            {exists && <span class="small warn-text">{chosen ? texts.replaced : texts.exists}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
