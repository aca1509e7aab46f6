/** A server from a form. */
import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { Form } from "../../components/form.tsx";
import { Refused } from "../../shell/refused.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { AddedServers } from "./added-servers.tsx";
import type { Draft } from "./draft.ts";
import { withoutUnnamed } from "./name-values.tsx";
import { PlaceField, usePlace } from "./place-field.tsx";
import { ServerForm } from "./server-form.tsx";
import { useAdding } from "./use-adding.ts";

export function AddForm({ onDone }: { readonly onDone: () => void }) {
  const draft = useSignal<Draft>({ name: "", command: "" });
  const place = usePlace();
  const adding = useAdding();
  if (adding.added) return <AddedServers adding={adding} onDone={onDone} />;
  const { name, ...entry } = withoutUnnamed(draft.value);
  const below = `/mcpServers/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return (
    <Form onSubmit={() => adding.add({ [String(name)]: entry }, place.chosen)}>
      <ServerForm
        draft={draft.value}
        onInput={(next) => (draft.value = next)}
        faultOf={(path) => adding.faultOf(below + path)}
      />
      <PlaceField place={place} />
      <Refused problem={adding.problem} />
      <div class="line">
        <Button type="submit" kind="primary" busy={adding.busy} disabled={name === ""}>
          {serverTexts.form.create}
        </Button>
      </div>
    </Form>
  );
}
