/** Changing a server: a form, then the steps of the change as they happen. */
import { useSignal } from "@preact/signals";
import type { ApiProblem } from "../../api/client.ts";
import type { Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Form } from "../../components/form.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { useKept } from "../../kept.ts";
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

interface Edited {
  /** What the edits began with: what comes meanwhile is told when it is saved. */
  readonly base: Server;
  readonly draft: Draft;
}

export function SettingsTab({ server }: { readonly server: Server }) {
  const edited = useKept<Edited | undefined>(`servers ${server.uuid}`, undefined);
  const saving = useSignal(false);
  const takeOver = useSignal(false);
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const { base, draft } = edited.value ?? { base: server, draft: draftOf(server) };
  const before = draftOf(base);
  const patch = patchBetween(before, withoutUnnamed(draft));
  const file = server.managedBy === "api" ? undefined : server.managedBy.replace(/^file:/, "");
  const writes = may("servers.write");

  const begin = (kept: Edited | undefined) => {
    edited.value = kept;
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
        onDone={() => begin(undefined)}
      />
    );
  if (problem.value?.status === 412)
    return (
      <Conflict
        before={before}
        draft={draft}
        current={problem.value.fields["current"] as Server}
        onMine={(current) => {
          begin({ base: current, draft: { ...draftOf(current), ...mine(before, draft) } });
          saving.value = true;
        }}
        onTheirs={() => begin(undefined)}
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
        onInput={(next) => (edited.value = { base, draft: next })}
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
            <Button kind="quiet" onClick={() => begin(undefined)}>
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
