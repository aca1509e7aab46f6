/** The page Settings: pipeline, limits, OAuth clients and issuers of the whole gateway. */
import { send } from "../../api/client.ts";
import type { Settings } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { NumberField } from "../../components/number-field.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { CONFIG, refresh, useResource } from "../../live/resource.ts";
import { LimitFields } from "../../parts/limit-fields.tsx";
import type { LayerEntry } from "../../pipeline/layer-entry.ts";
import { PipelineEditor } from "../../pipeline/pipeline-editor.tsx";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { policyTexts } from "../../texts/policy.ts";
import { settingsTexts as texts } from "../../texts/settings.ts";
import { shellTexts } from "../../texts/shell.ts";
import { toastWithUndo } from "../../undo.ts";
import { useDraft } from "../../use-draft.ts";
import { useSending } from "../../use-sending.ts";
import { Issuers } from "./issuers.tsx";
import { PolicyTests } from "./policy-tests.tsx";
import { RegistryFields } from "./registry-fields.tsx";
import { SecretSources } from "./secret-sources.tsx";
import { Webhooks } from "./webhooks.tsx";
import "./settings.css";

export default function SettingsPage() {
  const settings = useResource("/settings", {}, CONFIG);
  return (
    <>
      <PageHead title={texts.title} summary={texts.summary} />
      <Ready of={settings}>{(found) => <SettingsForm settings={found} />}</Ready>
    </>
  );
}

function SettingsForm({ settings }: { readonly settings: Settings }) {
  const draft = useDraft("settings", settings);
  const sending = useSending();
  const { value, set } = draft;
  const save = async () => {
    const done = await sending.run(() =>
      send("PATCH /settings", draft.patch, { revision: settings.revision }),
    );
    refresh("/settings");
    if (!done) return;
    draft.clear();
    await toastWithUndo(shellTexts.draft.saved(texts.title));
  };
  if (settings.managedBy !== "api") return <p>{shellTexts.managed(settings.managedBy)}</p>;
  return (
    <div class="settings">
      <section class="stack">
        <h2>{texts.pipeline}</h2>
        <PipelineEditor
          place={{ kind: "settings" }}
          value={(value.middleware ?? []) as readonly LayerEntry[]}
          faultOf={(path) => sending.faultOf(`/middleware${path}`)}
          onInput={(middleware) => set({ middleware } as Partial<Settings>)}
        />
      </section>
      <section class="stack">
        <h2>{policyTexts.tests.title}</h2>
        <PolicyTests />
      </section>
      <section class="stack">
        <h2>{texts.webhooks.title}</h2>
        <Webhooks
          value={value.notify ?? []}
          saved={(settings.notify ?? []).map(({ name }) => name)}
          faultOf={(path) => sending.faultOf(`/notify${path}`)}
          onInput={(notify) => set({ notify } as Partial<Settings>)}
        />
      </section>
      <section class="stack">
        <h2>{texts.limits}</h2>
        <LimitFields
          value={value.limits ?? {}}
          sending={sending}
          onInput={(limits) => set({ limits } as Partial<Settings>)}
        />
      </section>
      <section class="stack">
        <h2>{texts.registration}</h2>
        <SelectField
          label={texts.registrationLabel}
          value={value.registration}
          options={Object.entries(texts.registrations).map(([name, label]) => ({ value: name, label }))}
          onInput={(registration) => set({ registration } as Partial<Settings>)}
        />
      </section>
      <section class="stack">
        <h2>{texts.registry.title}</h2>
        <RegistryFields
          value={value.registry}
          faultOf={sending.faultOf}
          onInput={(registry) => set({ registry } as unknown as Partial<Settings>)}
        />
      </section>
      <section class="stack">
        <h2>{texts.people}</h2>
        <SelectField
          label={texts.passwordsLabel}
          hint={texts.passwordsHint}
          value={value.passwords}
          options={Object.entries(texts.passwords).map(([name, label]) => ({ value: name, label }))}
          onInput={(passwords) => set({ passwords } as Partial<Settings>)}
        />
        <NumberField
          label={texts.keyLifetime}
          hint={texts.keyLifetimeHint}
          whole
          optional
          placeholder={texts.noLimit}
          value={String(value.keyLifetimeDays ?? "")}
          error={sending.faultOf("/keyLifetimeDays")}
          onInput={(text) => set({ keyLifetimeDays: numberIn(text.trim()) } as Partial<Settings>)}
        />
      </section>
      <section class="stack">
        <h2>{texts.secretSources.title}</h2>
        <SecretSources
          value={value.secretSources ?? {}}
          faultOf={(path) => sending.faultOf(`/secretSources${path}`)}
          onInput={(secretSources) => set({ secretSources } as Partial<Settings>)}
        />
      </section>
      <section class="stack">
        <h2>{texts.issuers}</h2>
        <Issuers
          value={value.issuers}
          faultOf={(path) => sending.faultOf(`/issuers${path}`)}
          onInput={(issuers) => set({ issuers } as Partial<Settings>)}
        />
      </section>
      <div class="settings-save">
        <DraftBar
          draft={{ ...draft, revision: settings.revision }}
          sending={sending}
          save={texts.save}
          onSave={() => void save()}
          shownByFields={[
            "/keyLifetimeDays",
            ...(value.notify ?? []).flatMap((_, at) =>
              WEBHOOK_FIELDS.map((field) => `/notify/${at}/${field}`),
            ),
          ]}
        />
      </div>
      <section class="stack">
        <h2>{texts.config}</h2>
        <p class="muted">{texts.configText}</p>
        <div class="line">
          <Button href="/api/v1/config">{texts.download}</Button>
        </div>
      </section>
    </div>
  );
}

/** Webhooks show the errors of these themselves. */
const WEBHOOK_FIELDS = ["name", "url", "secret"] as const;

/**
 * Invalid input is sent as typed: the gateway answers with the error of the field. An empty field removes the
 * limit.
 */
function numberIn(typed: string): number | string | undefined {
  return typed === "" ? undefined : /^\d+$/.test(typed) ? Number(typed) : typed;
}
