/** The dialog that creates an API key and shows it once. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { send } from "../../api/client.ts";
import type { ApiKeyMade, NewApiKey, Role } from "../../api/types.ts";
import { FieldError } from "../../components/field-frame.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { CONFIG, refresh, useList } from "../../live/resource.ts";
import { address } from "../../navigate.ts";
import { ClientConfig } from "../../parts/client-config.tsx";
import { may, me } from "../../session.ts";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { ShownOnce } from "../../shell/shown-once.tsx";
import { keysTexts } from "../../texts/keys.ts";
import { shellTexts } from "../../texts/shell.ts";
import { useSending } from "../../use-sending.ts";
import { MachineMade } from "./machine-made.tsx";
import { isProofComplete, machineOf, Proof, type ProofDraft } from "./proof.tsx";
import { useEndpointNames, useOwners } from "./use-names.ts";

const texts = keysTexts.form;
const TIERS = ["readOnly", "write", "destructive"] as const;
const ROLES = ["admin", "editor", "viewer", "member"] as const satisfies readonly Role[];

interface Draft extends ProofDraft {
  readonly name: string;
  readonly description: string;
  readonly access: "all" | "some" | "role";
  readonly endpoints: readonly string[];
  readonly role: Role;
  readonly tiers: readonly (typeof TIERS)[number][];
  readonly owner: string;
  readonly lifetime: keyof typeof texts.lifetimes;
  /** In the format of the datetime-local field. */
  readonly expires: string;
}

export function NewKey({ onClose }: { readonly onClose: () => void }) {
  const self = me.value?.account;
  const asked = address.value.query["endpoint"];
  const draft = useSignal<Draft>({
    name: "",
    description: "",
    access: "some",
    endpoints: asked === undefined ? [] : [asked],
    role: "viewer",
    tiers: ["readOnly", "write"],
    owner: self?.uuid ?? "",
    proof: "key",
    keys: "",
    lifetime: "90",
    expires: "",
  });
  const tried = useSignal(false);
  const made = useSignal<ApiKeyMade | undefined>(undefined);
  const sending = useSending();
  const submit = () => {
    tried.value = true;
    return isComplete(draft.value) ? create() : undefined;
  };
  const create = () =>
    sending.run(async () => {
      made.value = await send("POST /api-keys", bodyOf(draft.value));
      refresh("/api-keys");
    });
  if (made.value?.machine) return <MachineMade made={made.value} onClose={onClose} />;
  if (made.value)
    return (
      <ShownOnce
        texts={keysTexts.made}
        text={keysTexts.made.text}
        line={made.value.key ?? ""}
        onClose={onClose}
      >
        <KeyConfig made={made.value} />
      </ShownOnce>
    );
  return (
    <FormDialog
      title={texts.title}
      submit={texts.submit}
      sending={sending}
      onSubmit={submit}
      onClose={onClose}
    >
      <Fields draft={draft} faultOf={sending.faultOf} tried={tried.value} />
    </FormDialog>
  );
}

/** What to do with the key, if it opens an endpoint. */
function KeyConfig({ made: { role, endpoints, key } }: { readonly made: ApiKeyMade }) {
  const all = useList("/endpoints", may("objects.read") ? {} : undefined, CONFIG).value.value ?? [];
  const opened = endpoints === "all" ? all.map(({ uuid }) => uuid) : (endpoints ?? []);
  const [first] = opened;
  return role || first === undefined ? null : <ClientConfig endpoint={first} apiKey={key} />;
}

interface FieldsProps {
  readonly draft: Signal<Draft>;
  readonly faultOf: (path: string) => string | undefined;
  /** Somebody tried to send it, so what is missing is said. */
  readonly tried: boolean;
}

function Fields({ draft, faultOf, tried }: FieldsProps) {
  const owners = useOwners();
  const fields = draft.value;
  const set = (change: Partial<Draft>) => {
    draft.value = { ...draft.value, ...change };
  };
  return (
    <>
      <TextField
        label={texts.name}
        hint={texts.nameHint}
        required
        autofocus
        value={fields.name}
        error={faultOf("/name")}
        onInput={(name) => set({ name })}
      />
      <TextField
        label={texts.description}
        optional
        rows={2}
        value={fields.description}
        error={faultOf("/description")}
        onInput={(description) => set({ description })}
      />
      <SelectField
        label={texts.access}
        value={fields.access}
        options={[
          { value: "some", label: texts.some },
          { value: "all", label: texts.all },
          { value: "role", label: texts.role },
        ]}
        error={faultOf("/endpoints")}
        onInput={(access) => set({ access: access as Draft["access"] })}
      />
      {fields.access === "some" && <Endpoints draft={draft} tried={tried} />}
      {fields.access === "role" ? (
        <SelectField
          label={texts.roleLabel}
          value={fields.role}
          options={assignableRoles().map((value) => ({ value, label: shellTexts.roles[value] }))}
          error={faultOf("/role")}
          onInput={(role) => set({ role: role as Role })}
        />
      ) : (
        <Tiers draft={draft} tried={tried} />
      )}
      {may("people") && fields.access !== "role" && (
        <Proof draft={fields} set={set} faultOf={faultOf} tried={tried} />
      )}
      {may("people") && (
        <SelectField
          label={texts.owner}
          hint={texts.ownerHint}
          none={texts.noOwner}
          value={fields.owner}
          options={owners.map(({ uuid, email }) => ({ value: uuid, label: email }))}
          error={faultOf("/owner")}
          onInput={(owner) => set({ owner })}
        />
      )}
      <SelectField
        label={texts.expires}
        value={fields.lifetime}
        options={Object.entries(texts.lifetimes).map(([value, label]) => ({ value, label }))}
        error={fields.lifetime === "date" ? undefined : faultOf("/expiresAt")}
        onInput={(lifetime) => set({ lifetime: lifetime as Draft["lifetime"] })}
      />
      {fields.lifetime === "date" && (
        <TextField
          label={texts.expiresAt}
          required
          type="datetime-local"
          value={fields.expires}
          error={faultOf("/expiresAt")}
          onInput={(expires) => set({ expires })}
        />
      )}
    </>
  );
}

interface ChoiceProps {
  readonly draft: Signal<Draft>;
  readonly tried: boolean;
}

function Endpoints({ draft, tried }: ChoiceProps) {
  const names = useEndpointNames();
  // Of one there is nothing to choose.
  useEffect(() => {
    if (names.length === 1 && draft.value.endpoints.length === 0)
      draft.value = { ...draft.value, endpoints: names.map(({ uuid }) => uuid) };
  }, [names.length]);
  const { endpoints } = draft.value;
  if (names.length === 0) return <p class="muted">{texts.noEndpoints}</p>;
  return (
    <fieldset class="stack-small">
      <legend class="field-label">{texts.endpoints}</legend>
      {names.map(({ uuid, name }) => (
        <SwitchField
          key={uuid}
          label={name}
          value={endpoints.includes(uuid)}
          onInput={(on) => {
            draft.value = { ...draft.value, endpoints: toggled(endpoints, uuid, on) };
          }}
        />
      ))}
      {tried && endpoints.length === 0 && <FieldError id="key-endpoints" text={texts.chooseEndpoint} />}
    </fieldset>
  );
}

function Tiers({ draft, tried }: ChoiceProps) {
  const { tiers } = draft.value;
  return (
    <fieldset class="stack-small">
      <legend class="field-label">{texts.tiers}</legend>
      {TIERS.map((tier) => (
        <SwitchField
          key={tier}
          label={keysTexts.tiers[tier]}
          value={tiers.includes(tier)}
          onInput={(on) => {
            draft.value = { ...draft.value, tiers: toggled(tiers, tier, on) };
          }}
        />
      ))}
      {tried && tiers.length === 0 && <FieldError id="key-tiers" text={texts.chooseTier} />}
    </fieldset>
  );
}

function isComplete({ access, endpoints, tiers, proof, keys }: Draft): boolean {
  if (access !== "role" && !isProofComplete({ proof, keys })) return false;
  return access === "role" || ((access === "all" || endpoints.length > 0) && tiers.length > 0);
}

const DAY_MS = 86_400_000;

function expiryOf({ lifetime, expires }: Draft): string | undefined {
  if (lifetime === "never") return undefined;
  if (lifetime === "date") return expires ? new Date(expires).toISOString() : undefined;
  return new Date(Date.now() + Number(lifetime) * DAY_MS).toISOString();
}

function bodyOf(draft: Draft): NewApiKey {
  const { name, description, access, endpoints, role, tiers, owner } = draft;
  const expiresAt = expiryOf(draft);
  const machine = access === "role" ? undefined : machineOf(draft);
  return {
    name,
    ...(description && { description }),
    ...(access === "role" ? { role } : { endpoints: access === "all" ? "all" : [...endpoints] }),
    ...(access !== "role" && tiers.length < TIERS.length && { tiers: [...tiers] }),
    ...(owner && { owner }),
    ...(machine && { machine }),
    ...(expiresAt !== undefined && { expiresAt }),
  } as NewApiKey;
}

/** People can only assign roles that they have themselves. */
function assignableRoles(): readonly Role[] {
  const own = me.value?.role ?? "member";
  return ROLES.slice(ROLES.indexOf(own));
}

function toggled<T>(all: readonly T[], one: T, on: boolean): readonly T[] {
  return on ? [...all, one] : all.filter((other) => other !== one);
}
