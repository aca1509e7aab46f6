/** The person's secrets that servers use for their calls. Shows names, never values. */
import { type Signal, useSignal } from "@preact/signals";
import { Ago } from "../../ago.tsx";
import { send } from "../../api/client.ts";
import type { Secret } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Form } from "../../components/form.tsx";
import type { Column } from "../../components/table.tsx";
import { TextField } from "../../components/text-field.tsx";
import { toast } from "../../components/toasts.tsx";
import { refresh, useList } from "../../live/resource.ts";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { Refused } from "../../shell/refused.tsx";
import { meTexts } from "../../texts/me.ts";
import { shellTexts } from "../../texts/shell.ts";
import { useSending } from "../../use-sending.ts";
import { ListSection } from "./list-section.tsx";

const texts = meTexts.secrets;

/**
 * `adding` is the name of the secret being added; "" if the name is not typed yet; undefined if the form is
 * closed.
 */
export function Secrets({ adding }: { readonly adding: Signal<string | undefined> }) {
  const removing = useSignal<string | undefined>(undefined);
  const sending = useSending();
  const remove = async (name: string) => {
    const done = await sending.run(() => send("DELETE /me/secrets/:name", undefined, { params: { name } }));
    if (!done) return;
    removing.value = undefined;
    toast({ text: texts.removed(name) });
    refresh("/me/secrets");
    refresh("/me/logins");
  };
  return (
    <ListSection
      texts={texts}
      of={useList("/me/secrets", {}, {})}
      columns={columnsFor((name) => (removing.value = name))}
      rowKey={({ name }) => name}
    >
      <AddSecret adding={adding} />
      {removing.value && (
        <FormDialog
          title={texts.askTitle(removing.value)}
          danger
          submit={texts.remove}
          sending={sending}
          onSubmit={() => void remove(removing.value ?? "")}
          onClose={() => (removing.value = undefined)}
        >
          <p>{texts.askText}</p>
        </FormDialog>
      )}
    </ListSection>
  );
}

function AddSecret({ adding }: { readonly adding: Signal<string | undefined> }) {
  const value = useSignal("");
  const sending = useSending();
  const name = adding.value;
  const save = async () => {
    const body = { value: value.value };
    const done = await sending.run(() =>
      send("PUT /me/secrets/:name", body, { params: { name: name ?? "" } }),
    );
    if (!done) return;
    toast({ text: texts.saved(name ?? "") });
    adding.value = undefined;
    value.value = "";
    refresh("/me/secrets");
    refresh("/me/logins");
  };
  if (name === undefined)
    return (
      <div class="line">
        <Button onClick={() => (adding.value = "")}>{texts.add}</Button>
      </div>
    );
  return (
    <Form class="me-form" onSubmit={() => save()}>
      <TextField
        label={texts.name}
        hint={texts.nameHint}
        required
        mono
        autofocus
        value={name}
        onInput={(text) => (adding.value = text)}
      />
      <TextField
        label={texts.value}
        type="password"
        required
        value={value.value}
        error={sending.faultOf("/value")}
        onInput={(text) => (value.value = text)}
      />
      <Refused problem={sending.problem} />
      <div class="line">
        <Button type="submit" kind="primary" busy={sending.busy}>
          {texts.save}
        </Button>
        <Button onClick={() => (adding.value = undefined)}>{shellTexts.cancel}</Button>
      </div>
    </Form>
  );
}

function columnsFor(onRemove: (name: string) => void): readonly Column<Secret>[] {
  return [
    { id: "name", head: texts.columns.name, mono: true, value: ({ name }) => name },
    {
      id: "changed",
      head: texts.columns.changed,
      width: "120px",
      cell: ({ updatedAt }) => <Ago at={updatedAt} />,
    },
    {
      id: "remove",
      head: "",
      width: "90px",
      cell: ({ name }) => (
        <Button size="small" kind="danger" label={`${texts.remove} ${name}`} onClick={() => onRemove(name)}>
          {texts.remove}
        </Button>
      ),
    },
  ];
}
