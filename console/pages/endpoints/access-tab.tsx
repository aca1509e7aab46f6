/** Edits who may use an endpoint, and how they authenticate. */
import { hrefOf } from "../../address.ts";
import type { Endpoint } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { ListField } from "../../components/list-field.tsx";
import { PickField } from "../../components/pick-field.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { type RefreshRule, useList } from "../../live/resource.ts";
import { may } from "../../session.ts";
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
      {!endpoint.access.public && <WhoMay endpoint={endpoint} />}
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
  const people = useList("/users", may("people") ? {} : undefined, PEOPLE).value.value ?? [];
  const known = {
    users: people.map(({ email }) => email).sort(),
    groups: [...new Set(people.flatMap(({ groups }) => groups))].sort(),
    roles: Object.keys(shellTexts.roles),
  };
  return (
    <>
      <SwitchField label={texts.restrict} value={Boolean(allow)} onInput={(on) => onInput(on ? {} : null)} />
      {allow &&
        (["users", "groups", "roles"] as const).map((name) => (
          <PickField
            key={name}
            label={texts[name]}
            hint={texts[`${name}Hint`]}
            value={allow[name] ?? []}
            known={known[name]}
            // Groups may come from an identity provider, before anybody has them here.
            free={name === "groups"}
            error={faultIn(faultOf, name, allow[name] ?? [])}
            onInput={(value) => onInput({ ...allow, [name]: value })}
          />
        ))}
    </>
  );
}

/** The fault of the list, or of the first of its names that has one. */
function faultIn(
  faultOf: AllowFieldsProps["faultOf"],
  list: string,
  names: readonly string[],
): string | undefined {
  const path = `/access/allow/${list}`;
  for (const one of [path, ...names.map((_, at) => `${path}/${at}`)]) {
    const fault = faultOf(one);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const PEOPLE: RefreshRule = { when: (event) => event.type === "admin" };
const MOST_NAMED = 8;

/** Who may use the endpoint as it is saved. */
function WhoMay({ endpoint }: { readonly endpoint: Endpoint }) {
  const params = may("people") ? { uuid: endpoint.uuid } : undefined;
  const people = useList("/endpoints/:uuid/people", params, { ...PEOPLE, on: ["revision"] }).value.value;
  if (!people) return null;
  const rest = people.length - MOST_NAMED;
  return (
    <p class={people.length === 0 ? "note" : undefined}>
      {texts.whoMay(people.length)}{" "}
      {people.slice(0, MOST_NAMED).map(({ uuid, email }, at) => (
        <>
          {at > 0 && ", "}
          <a key={uuid} href={hrefOf({ page: "people", id: uuid })}>
            <ForeignText text={email} />
          </a>
        </>
      ))}
      {rest > 0 && texts.whoElse(rest)}
    </p>
  );
}
