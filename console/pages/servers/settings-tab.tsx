/** Edits a server in a form, and then shows the steps of the update. */
import { useSignal } from "@preact/signals";
import type { ApiProblem } from "../../api/client.ts";
import type { Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Form } from "../../components/form.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { may } from "../../session.ts";
import { Refused } from "../../shell/refused.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { useUnsavedInput } from "../../unsaved-input.ts";
import { Conflict } from "./conflict.tsx";
import { type Draft, draftOf, patchBetween } from "./draft.ts";
import { withoutUnnamed } from "./name-values.tsx";
import { ServerForm } from "./server-form.tsx";
import { UpdateFlow } from "./update-flow.tsx";

const texts = serverTexts.form;
/** JSON Pointers of the fields that show their own error. */
const SHOWN_BY_FIELDS = [
  "/name",
  "/command",
  "/args",
  "/url",
  "/cwd",
  "/description",
  "/labels",
  "/instances",
  "/timeoutMs",
];

interface Edits {
  /** The server when the edit began. Changes of others since then are reported when saving. */
  readonly base: Server;
  readonly draft: Draft;
}

export function SettingsTab({ server }: { readonly server: Server }) {
  const edited = useUnsavedInput<Edits | undefined>(`servers ${server.uuid}`, undefined);
  const saving = useSignal(false);
  const takeOver = useSignal(false);
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const { base, draft } = edited.value ?? { base: server, draft: draftOf(server) };
  const before = draftOf(base);
  const patch = patchBetween(before, withoutUnnamed(draft));
  const file = server.managedBy === "api" ? undefined : server.managedBy.replace(/^file:/, "");
  const mayWrite = may("servers.write");

  const reset = (edits: Edits | undefined) => {
    edited.value = edits;
    problem.value = undefined;
    saving.value = false;
  };
  if (saving.value && patch)
    return (
      <UpdateFlow
        server={base}
        patch={patch}
        takeOver={takeOver.value}
        onRefused={(refused) => {
          problem.value = refused;
          saving.value = false;
        }}
        onDone={() => reset(undefined)}
      />
    );
  if (problem.value?.status === 412)
    return (
      <Conflict
        before={before}
        draft={draft}
        current={problem.value.fields["current"] as Server}
        onMine={(current) => {
          reset({ base: current, draft: { ...draftOf(current), ...editedFields(before, draft) } });
          saving.value = true;
        }}
        onTheirs={() => reset(undefined)}
      />
    );
  return (
    <Form
      onSubmit={() => {
        problem.value = undefined;
        saving.value = patch !== undefined;
      }}
    >
      {!mayWrite && <p class="muted">{texts.noRight}</p>}
      {mayWrite && file !== undefined && (
        <>
          <p class="note-warn">{texts.readOnly(file)}</p>
          <SwitchField
            label={texts.takeOver}
            value={takeOver.value}
            onInput={(on) => (takeOver.value = on)}
          />
        </>
      )}
      <ServerForm
        draft={draft}
        disabled={!mayWrite || (file !== undefined && !takeOver.value)}
        faultOf={(path) => problem.value?.errors.find((fault) => fault.path === path)?.message}
        onInput={(next) => (edited.value = { base, draft: next })}
      />
      <Refused problem={problem.value} shownByFields={SHOWN_BY_FIELDS} />
      {mayWrite && (
        <div class="line form-actions">
          <Button type="submit" kind="primary" disabled={patch === undefined}>
            {texts.save}
          </Button>
          {patch === undefined ? (
            <span class="muted">{texts.unchanged}</span>
          ) : (
            <Button kind="quiet" onClick={() => reset(undefined)}>
              {texts.discard}
            </Button>
          )}
        </div>
      )}
    </Form>
  );
}

/** Returns the edited fields with their new values. */
function editedFields(before: Draft, draft: Draft): Draft {
  const changed = Object.keys(patchBetween(before, draft) ?? {});
  return Object.fromEntries(changed.map((name) => [name, draft[name]]));
}
