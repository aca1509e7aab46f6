/** Edits who may use an endpoint, and how they authenticate. */
import type { Endpoint } from "../../api/types.ts";
import { ListField } from "../../components/list-field.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { endpointsTexts } from "../../texts/endpoints.ts";
import { shellTexts } from "../../texts/shell.ts";
import { useObjectDraft } from "../../use-object-draft.ts";

const texts = endpointsTexts.accessForm;

type Access = Endpoint["access"];
type Allow = NonNullable<Access["allow"]>;

export function AccessTab({ endpoint }: { readonly endpoint: Endpoint }) {
  const { draft, sending, save } = useObjectDraft("endpoints", endpoint);
  const { access } = draft.value;
  const set = (change: Partial<Access>) => draft.set({ access: { ...access, ...change } as Access });
  if (endpoint.managedBy !== "api") return <p>{shellTexts.managed(endpoint.managedBy)}</p>;
  return (
    <div class="stack">
      <SwitchField
        label={texts.public}
        hint={texts.publicHint}
        value={access.public}
        onInput={(on) => set({ public: on })}
      />
      {!access.public && (
        <>
          <SwitchField label={texts.keys} value={access.keys} onInput={(keys) => set({ keys })} />
          {access.keys && (
            <SwitchField
              label={texts.queryKey}
              hint={texts.queryKeyHint}
              value={access.queryKey}
              onInput={(queryKey) => set({ queryKey })}
            />
          )}
          <SwitchField
            label={texts.oauth}
            hint={texts.oauthHint}
            value={access.oauth}
            onInput={(oauth) => set({ oauth })}
          />
          <AllowFields
            allow={access.allow}
            faultOf={sending.faultOf}
            onInput={(allow) => set({ allow } as Partial<Access>)}
          />
        </>
      )}
      <ListField
        label={texts.origins}
        hint={texts.originsHint}
        value={access.origins ?? []}
        error={sending.faultOf("/access/origins")}
        onInput={(origins) => set({ origins })}
      />
      <DraftBar draft={draft} sending={sending} save={texts.save} onSave={save} />
    </div>
  );
}

interface AllowFieldsProps {
  readonly allow: Allow | undefined;
  /** Undefined or null: every account is allowed. */
  readonly onInput: (allow: Allow | undefined | null) => void;
  readonly faultOf: (path: string) => string | undefined;
}

function AllowFields({ allow, onInput, faultOf }: AllowFieldsProps) {
  return (
    <>
      <SwitchField label={texts.restrict} value={Boolean(allow)} onInput={(on) => onInput(on ? {} : null)} />
      {allow &&
        (["users", "groups", "roles"] as const).map((name) => (
          <ListField
            key={name}
            label={texts[name]}
            hint={texts[`${name}Hint`]}
            value={allow[name] ?? []}
            error={faultOf(`/access/allow/${name}`)}
            onInput={(value) => onInput({ ...allow, [name]: value })}
          />
        ))}
    </>
  );
}
