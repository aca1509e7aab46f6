/** Chooses the namespace of a new server, and so the clients that see its tools. */
import { type Signal, useSignal } from "@preact/signals";
import type { Namespace } from "../../api/types.ts";
import { SelectField } from "../../components/select-field.tsx";
import { CONFIG, useList } from "../../live/resource.ts";
import { serverTexts } from "../../texts/servers.ts";
import { DEFAULT_NAME, defaultChoice, type NamespaceChoice } from "./add-to-namespace.ts";

const texts = serverTexts.adding;

export interface NamespaceChoiceState {
  readonly chosen: NamespaceChoice;
  readonly picked: Signal<NamespaceChoice | undefined>;
  readonly namespaces: readonly Namespace[];
  /** Whether the endpoint `default` exists. */
  readonly hasDefault: boolean;
}

/** The default choice until somebody picks another. */
export function useNamespaceChoice(): NamespaceChoiceState {
  const namespaces = useList("/namespaces", {}, CONFIG).value.value ?? [];
  const endpoints = useList("/endpoints", {}, CONFIG).value.value ?? [];
  const picked = useSignal<NamespaceChoice | undefined>(undefined);
  const chosen = picked.value ?? defaultChoice({ namespaces, endpoints });
  const hasDefault = endpoints.some(({ name }) => name === DEFAULT_NAME);
  return { chosen, picked, namespaces, hasDefault };
}

export function NamespaceField({
  choice: { chosen, picked, namespaces, hasDefault },
}: {
  readonly choice: NamespaceChoiceState;
}) {
  return (
    <SelectField
      label={texts.namespace}
      value={typeof chosen === "string" ? chosen : chosen.namespace}
      options={[
        ...namespaces.map(({ uuid, name }) => ({ value: uuid, label: texts.namespaceOf(name) })),
        { value: "new", label: texts.namespaceNew(hasDefault) },
        { value: "none", label: texts.namespaceNone },
      ]}
      onInput={(value) => {
        picked.value = value === "new" || value === "none" ? value : { namespace: value };
      }}
    />
  );
}
