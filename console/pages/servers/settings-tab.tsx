/** Edits a server in a form, and then shows the steps of the update. */
import { useSignal } from "@preact/signals";
import type { ApiProblem } from "../../api/client.ts";
import type { Server, ServerPatch } from "../../api/types.ts";
import { Form } from "../../components/form.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { refresh } from "../../live/resource.ts";
import { may } from "../../session.ts";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { useDraft } from "../../use-draft.ts";
import { faultIn } from "../../use-sending.ts";
import { changedFields, draftOf } from "./draft.ts";
import { ServerForm, SHOWN_BY_FIELDS } from "./server-form.tsx";
import { UpdateFlow } from "./update-flow.tsx";

const texts = serverTexts.form;

export function SettingsTab({ server }: { readonly server: Server }) {
  const draft = useDraft(`servers ${server.uuid}`, draftOf(server));
  /** The change that is being saved. The draft is empty as soon as the change is stored. */
  const saved = useSignal<{ readonly server: Server; readonly patch: ServerPatch } | undefined>(undefined);
  const takeOver = useSignal(false);
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const file = server.managedBy === "api" ? undefined : server.managedBy.replace(/^file:/, "");
  const mayWrite = may("servers.write");

  if (saved.value)
    return (
      <UpdateFlow
        {...saved.value}
        takeOver={takeOver.value}
        onRefused={(refused) => {
          problem.value = refused;
          saved.value = undefined;
          refresh("/mcp-servers");
        }}
        onDone={() => {
          draft.clear();
          saved.value = undefined;
        }}
      />
    );
  return (
    <Form
      onSubmit={() => {
        problem.value = undefined;
        saved.value = { server, patch: draft.patch as ServerPatch };
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
        draft={draft.value}
        disabled={!mayWrite || (file !== undefined && !takeOver.value)}
        faultOf={(path) => faultIn(problem.value, path)}
        onInput={(next) => draft.set(changedFields(draft.value, next))}
      />
      {mayWrite && (
        <div class="form-actions">
          <DraftBar
            draft={{
              ...draft,
              revision: server.revision,
              clear() {
                draft.clear();
                problem.value = undefined;
              },
            }}
            sending={{ busy: false, problem: problem.value }}
            shownByFields={SHOWN_BY_FIELDS}
            save={texts.save}
          >
            {!draft.changed && <span class="muted">{texts.unchanged}</span>}
          </DraftBar>
        </div>
      )}
    </Form>
  );
}
