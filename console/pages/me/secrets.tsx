/** Secrets that servers use for one's calls: their names, never their values. */
import { type Signal, useSignal } from "@preact/signals";
import { Ago } from "../../ago.tsx";
import { send } from "../../api/client.ts";
import type { Secret } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { TextField } from "../../components/text-field.tsx";
import { toast } from "../../components/toasts.tsx";
import { refresh, useList } from "../../live/resource.ts";
import { Confirm } from "../../shell/confirm.tsx";
import { Ready } from "../../shell/ready.tsx";
import { Refused } from "../../shell/refused.tsx";
import { meTexts } from "../../texts/me.ts";
import { shellTexts } from "../../texts/shell.ts";
import { useSending } from "../../use-sending.ts";

const texts = meTexts.secrets;

/** `adding`: the name of the secret that is being added, or "" where its name is still to be typed. */
export function Secrets({ adding }: { readonly adding: Signal<string | undefined> }) {
  const secrets = useList("/me/secrets", {}, {});
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
    <section class="stack-small">
      <h2>{texts.title}</h2>
      <p class="muted">{texts.text}</p>
      <Ready of={secrets}>
        {(items) =>
          items.length === 0 ? (
            <p>{texts.none}</p>
          ) : (
            <Table
              label={texts.title}
              rows={items}
              columns={columnsFor((name) => (removing.value = name))}
              rowKey={({ name }) => name}
            />
          )
        }
      </Ready>
      <AddSecret adding={adding} />
      {removing.value && (
        <Confirm
          title={texts.askTitle(removing.value)}
          action={texts.remove}
          sending={sending}
          onConfirm={() => void remove(removing.value ?? "")}
          onClose={() => (removing.value = undefined)}
        >
          <p>{texts.askText}</p>
        </Confirm>
      )}
    </section>
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
    <form
      class="stack me-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
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
    </form>
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
