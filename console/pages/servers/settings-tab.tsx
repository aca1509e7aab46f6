/** Changing a server: a form, then the steps of the change as they happen. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { ApiProblem } from "../../api/client.ts";
import type { Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Form } from "../../components/form.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { may } from "../../session.ts";
import { Refused } from "../../shell/refused.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { Conflict } from "./conflict.tsx";
import { type Draft, draftOf, patchBetween } from "./draft.ts";
import { withoutUnnamed } from "./name-values.tsx";
import { ServerForm } from "./server-form.tsx";
import { UpdateFlow } from "./update-flow.tsx";

const texts = serverTexts.form;
/** What the fields say by themselves. */
const TOLD = [
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

export function SettingsTab({ server }: { readonly server: Server }) {
  /** What the edits began with: what comes meanwhile is told when it is saved. */
  const base = useRef(server);
  const edited = useSignal<Draft | undefined>(undefined);
  const saving = useSignal(false);
  const takeOver = useSignal(false);
  const problem = useSignal<ApiProblem | undefined>(undefined);
  if (edited.value === undefined && !saving.value) base.current = server;
  const before = draftOf(base.current);
  const draft = edited.value ?? before;
  const patch = patchBetween(before, withoutUnnamed(draft));
  const file = server.managedBy === "api" ? undefined : server.managedBy.replace(/^file:/, "");
  const writes = may("servers.write");

  const begin = (next: Server, kept: Draft | undefined) => {
    base.current = next;
    edited.value = kept;
    problem.value = undefined;
    saving.value = false;
  };
  if (saving.value && patch)
    return (
      <UpdateFlow
        server={base.current}
        patch={patch}
        takeOver={takeOver.value}
        onRefused={(refused) => {
          problem.value = refused;
          saving.value = false;
        }}
        onDone={(updated) => begin(updated, undefined)}
      />
    );
  if (problem.value?.status === 412)
    return (
      <Conflict
        before={before}
        draft={draft}
        current={problem.value.fields["current"] as Server}
        onMine={(current) => {
          begin(current, { ...draftOf(current), ...mine(before, draft) });
          saving.value = true;
        }}
        onTheirs={(current) => begin(current, undefined)}
      />
    );
  return (
    <Form
      onSubmit={() => {
        problem.value = undefined;
        saving.value = patch !== undefined;
      }}
    >
      {!writes && <p class="muted">{texts.noRight}</p>}
      {writes && file !== undefined && (
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
        disabled={!writes || (file !== undefined && !takeOver.value)}
        faultOf={(path) => problem.value?.errors.find((fault) => fault.path === path)?.message}
        onInput={(next) => (edited.value = next)}
      />
      <Refused problem={problem.value} told={TOLD} />
      {writes && (
        <div class="line form-actions">
          <Button type="submit" kind="primary" disabled={patch === undefined}>
            {texts.save}
          </Button>
          {patch === undefined ? (
            <span class="muted">{texts.unchanged}</span>
          ) : (
            <Button kind="quiet" onClick={() => begin(server, undefined)}>
              {texts.discard}
            </Button>
          )}
        </div>
      )}
    </Form>
  );
}

/** The fields that were edited, as they are wanted. */
function mine(before: Draft, draft: Draft): Draft {
  const changed = Object.keys(patchBetween(before, draft) ?? {});
  return Object.fromEntries(changed.map((name) => [name, draft[name]]));
}
