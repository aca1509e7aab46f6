/** Fields for members that the schema does not name: a name and a value per row. */
import { useState } from "preact/hooks";
import { componentTexts } from "../../texts/components.ts";
import { Button } from "../button.tsx";
import { TextField } from "../text-field.tsx";
import { type Draft, isMap, withMember } from "./draft.ts";
import type { NodeProps } from "./field-props.ts";
import { nodeOf } from "./form-node.ts";
import { startDraft } from "./start-draft.ts";

const texts = componentTexts.form;

export function EntryRows({ form, node, draft, onInput, path }: NodeProps<"object">) {
  const values: ReadonlyMap<string, Draft> = isMap(draft) ? draft : new Map<string, Draft>();
  const known = new Set(node.members.map(({ name }) => name));
  const names = [...values.keys()].filter((name) => !known.has(name));
  const rename = (from: string, to: string) => {
    onInput(new Map([...values].map(([name, value]) => [name === from ? to : name, value])));
  };
  const add = (name: string) => {
    const start = startDraft(node.additional, form.root);
    onInput(withMember(draft, name, start ?? emptyOf(node.additional, form.root)));
  };
  const isTaken = (name: string) => values.has(name) || known.has(name);
  const adding = <AddEntry isArgument={path.length === 0} taken={isTaken} onAdd={add} />;
  return (
    <>
      {names.map((name, at) => (
        <div key={at} class="form-entry">
          <EntryName
            name={name}
            taken={(other) => other !== name && values.has(other)}
            onName={(to) => rename(name, to)}
          />
          <form.Field
            form={form}
            path={[...path, name]}
            name={name}
            bare
            schema={node.additional}
            required
            draft={values.get(name)}
            // An entry with an empty value stays, because it still has a name.
            onInput={(value) =>
              onInput(withMember(draft, name, value ?? emptyOf(node.additional, form.root)))
            }
          />
          <Button
            size="small"
            kind="quiet"
            label={texts.removeNamed(name)}
            onClick={() => onInput(withMember(draft, name, undefined))}
          >
            {texts.remove}
          </Button>
        </div>
      ))}
      {node.members.length === 0 && names.length === 0 && path.length === 0 ? (
        <details>
          <summary>{texts.noMembers}</summary>
          {adding}
        </details>
      ) : (
        adding
      )}
    </>
  );
}

function emptyOf(schema: unknown, root: unknown): Draft {
  return nodeOf(schema, root).kind === "text" ? "" : null;
}

interface EntryNameProps {
  readonly name: string;
  readonly taken: (name: string) => boolean;
  readonly onName: (name: string) => void;
}

function EntryName({ name, taken, onName }: EntryNameProps) {
  const [typed, setTyped] = useState<string>();
  const shown = typed ?? name;
  return (
    <TextField
      label={texts.entryName}
      labelHidden
      mono
      value={shown}
      error={taken(shown) ? texts.entryTaken : undefined}
      onInput={(text) => {
        const free = text !== "" && !taken(text);
        setTyped(free ? undefined : text);
        if (free) onName(text);
      }}
    />
  );
}

interface AddEntryProps {
  /** The entry is an argument of the tool. */
  readonly isArgument: boolean;
  readonly taken: (name: string) => boolean;
  readonly onAdd: (name: string) => void;
}

function AddEntry({ isArgument, taken, onAdd }: AddEntryProps) {
  const [name, setName] = useState("");
  const ready = name !== "" && !taken(name);
  const add = () => {
    if (!ready) return;
    onAdd(name);
    setName("");
  };
  return (
    <div class="form-add">
      <TextField
        label={isArgument ? texts.newArgument : texts.newEntry}
        mono
        value={name}
        error={name !== "" && !ready ? texts.entryTaken : undefined}
        onInput={setName}
        onEnter={add}
      />
      <Button disabled={!ready} onClick={add}>
        {isArgument ? texts.addArgument : texts.addEntry}
      </Button>
    </div>
  );
}
