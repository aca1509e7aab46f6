/** Adds a server with a form. */
import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { Form } from "../../components/form.tsx";
import { Refused } from "../../shell/refused.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { AddedServers } from "./added-servers.tsx";
import type { Draft } from "./draft.ts";
import { withoutUnnamed } from "./name-values.tsx";
import { NamespaceField, useNamespaceChoice } from "./namespace-field.tsx";
import { ServerForm } from "./server-form.tsx";
import { useAddServers } from "./use-add-servers.ts";

export function AddForm({ onDone }: { readonly onDone: () => void }) {
  const draft = useSignal<Draft>({ name: "", command: "" });
  const choice = useNamespaceChoice();
  const adding = useAddServers();
  if (adding.added) return <AddedServers adding={adding} onDone={onDone} />;
  const { name, ...entry } = withoutUnnamed(draft.value);
  const pointer = `/mcpServers/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return (
    <Form onSubmit={() => adding.add({ [String(name)]: entry }, choice.chosen)}>
      <ServerForm
        draft={draft.value}
        onInput={(next) => (draft.value = next)}
        faultOf={(path) => adding.faultOf(pointer + path)}
      />
      <NamespaceField choice={choice} />
      <Refused problem={adding.problem} />
      <div class="line">
        <Button type="submit" kind="primary" busy={adding.busy} disabled={name === ""}>
          {serverTexts.form.create}
        </Button>
      </div>
    </Form>
  );
}
