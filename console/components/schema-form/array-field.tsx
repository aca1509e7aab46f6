/** The field of an array, with one field per item. */
import type { ComponentChildren } from "preact";
import { componentTexts } from "../../texts/components.ts";
import { Button } from "../button.tsx";
import { type Draft, isList, withItem } from "./draft.ts";
import { labelOf, type NodeProps } from "./field-props.ts";
import { nodeOf } from "./form-node.ts";
import { Group } from "./object-field.tsx";
import { startDraft } from "./start-draft.ts";

const texts = componentTexts.form;
/** Further items can be edited as JSON only, because a longer form is not usable. */
const MAX_ITEMS = 200;

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
    // A field with a frame has the remove button inside the frame.
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
      {items.slice(0, MAX_ITEMS).map((_, at) => fieldAt(at))}
      {items.length > MAX_ITEMS && <p class="muted">{texts.manyItems(items.length - MAX_ITEMS)}</p>}
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
