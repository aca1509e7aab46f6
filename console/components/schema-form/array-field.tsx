/** A list: its items one below the other. */
import type { ComponentChildren } from "preact";
import { componentTexts } from "../../texts/components.ts";
import { Button } from "../button.tsx";
import { type Draft, isList, withItem } from "./draft.ts";
import { labelOf, type NodeProps } from "./field-props.ts";
import { nodeOf } from "./form-node.ts";
import { Group } from "./object-field.tsx";
import { startDraft } from "./start-draft.ts";

const texts = componentTexts.form;
/** More are edited as JSON: nobody fills in a form that long. */
const MOST = 200;

const FRAMED: ReadonlySet<string> = new Set(["object", "array"]);

export function ArrayField(props: NodeProps<"array">) {
  const { form, node, draft, onInput, path } = props;
  const items: readonly Draft[] = isList(draft) ? draft : [];
  const open = node.items !== false && items.length < (node.size.most ?? Number.POSITIVE_INFINITY);
  const start = (at: number) => startDraft(node.prefix[at] ?? node.items, form.root);
  const fieldAt = (at: number): ComponentChildren => {
    const schema = node.prefix[at] ?? node.items;
    const remove =
      at < node.prefix.length ? undefined : () => onInput(items.filter((_, other) => other !== at));
    const field = {
      form,
      path: [...path, String(at)],
      schema,
      required: true,
      draft: items[at],
      onInput: (value: Draft) => onInput(withItem(draft, at, value)),
    };
    // What has a frame of its own has its button there.
    if (FRAMED.has(nodeOf(schema, form.root).kind))
      return <form.Field key={at} {...field} name={texts.item(at + 1)} onRemove={remove} />;
    const name = `${labelOf(props)} ${at + 1}`;
    return (
      <div key={at} class="form-item">
        <form.Field {...field} name={name} bare />
        {remove && (
          <Button size="small" kind="quiet" label={texts.removeNamed(name)} onClick={remove}>
            {texts.remove}
          </Button>
        )}
      </div>
    );
  };
  return (
    <Group
      {...props}
      node={node}
      given={draft !== undefined}
      onAdd={() => onInput(node.prefix.length > 0 ? node.prefix.map((_, at) => start(at)) : [start(0)])}
    >
      {items.slice(0, MOST).map((_, at) => fieldAt(at))}
      {items.length > MOST && <p class="muted">{texts.manyItems(items.length - MOST)}</p>}
      {open && (
        <div>
          <Button size="small" onClick={() => onInput([...items, start(items.length)])}>
            {texts.addItem}
          </Button>
        </div>
      )}
    </Group>
  );
}
