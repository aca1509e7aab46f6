/** Adds one server of the gallery or the registry. Shows first what it runs and which values it needs. */
import { useSignal } from "@preact/signals";
import type { Offer } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Form } from "../../components/form.tsx";
import { TextField } from "../../components/text-field.tsx";
import { Refused } from "../../shell/refused.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { AddedServers } from "./added-servers.tsx";
import { NamespaceField, useNamespaceChoice } from "./namespace-field.tsx";
import type { Entry } from "./read-pasted.ts";
import { commandOrUrl } from "./server-state.ts";
import { useAddServers } from "./use-add-servers.ts";

const texts = serverTexts.adding;

interface ChosenOfferProps {
  readonly offer: Offer;
  readonly onDone: () => void;
  readonly onBack: () => void;
}

export function ChosenOffer({ offer, onDone, onBack }: ChosenOfferProps) {
  const name = useSignal(offer.name);
  const values = useSignal<Readonly<Record<string, string>>>({});
  const choice = useNamespaceChoice();
  const adding = useAddServers();
  if (adding.added) return <AddedServers adding={adding} onDone={onDone} />;
  const { entry, variables = [] } = offer;
  const local = "command" in entry;
  const unset = variables.filter(({ set }) => !set);
  return (
    <Form onSubmit={() => adding.add({ [name.value]: fillVariables(entry, values.value) }, choice.chosen)}>
      <p>
        <strong>
          <ForeignText text={offer.name} />
        </strong>{" "}
        <ForeignText text={offer.description} />
      </p>
      <div class="stack-small">
        <span class="field-label">{local ? texts.runs : texts.calls}</span>
        <code class="block-code">
          <ForeignText text={commandOrUrl(entry as Parameters<typeof commandOrUrl>[0])} />
        </code>
        {local && <p class="muted">{texts.warning}</p>}
        {offer.touches !== undefined && (
          <p class="muted">
            {texts.touches} <ForeignText text={offer.touches} />
          </p>
        )}
      </div>
      <TextField
        label={serverTexts.form.name}
        mono
        required
        value={name.value}
        onInput={(text) => (name.value = text)}
      />
      {unset.map(({ name: variable, description, required, secret }) => (
        <TextField
          key={variable}
          label={variable}
          hint={description && <ForeignText text={description} />}
          type={secret ? "password" : "text"}
          autocomplete={secret ? "new-password" : "off"}
          mono
          required={required === true}
          optional={required !== true}
          value={values.value[variable] ?? ""}
          onInput={(text) => (values.value = { ...values.value, [variable]: text })}
        />
      ))}
      <NamespaceField choice={choice} />
      <Refused problem={adding.problem} />
      <div class="line">
        <Button type="submit" kind="primary" busy={adding.busy} disabled={name.value === ""}>
          {texts.add(1, 0)}
        </Button>
        <Button kind="quiet" onClick={onBack}>
          {texts.chooseOther}
        </Button>
      </div>
    </Form>
  );
}

/** Replaces `${NAME}` by the typed value. The gateway encrypts values in the environment and in headers. */
function fillVariables(entry: Entry, values: Readonly<Record<string, string>>): Entry {
  const fill = (value: unknown): unknown => {
    if (typeof value === "string")
      return value.replace(/\$\{(\w+)(?::-[^}]*)?\}/g, (whole, name: string) => values[name] || whole);
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fill(one)]));
  };
  return fill(entry) as Entry;
}
