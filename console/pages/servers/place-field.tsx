/** Which clients see the tools of a new server. */
import { type Signal, useSignal } from "@preact/signals";
import type { Namespace } from "../../api/types.ts";
import { SelectField } from "../../components/select-field.tsx";
import { CONFIG, useList } from "../../live/resource.ts";
import { serverTexts } from "../../texts/servers.ts";
import { type Place, usualPlace } from "./join.ts";

const texts = serverTexts.adding;

export interface ChosenPlace {
  readonly chosen: Place;
  readonly picked: Signal<Place | undefined>;
  readonly namespaces: readonly Namespace[];
}

/** The usual one until somebody picks another. */
export function usePlace(): ChosenPlace {
  const namespaces = useList("/namespaces", {}, CONFIG).value.value ?? [];
  const endpoints = useList("/endpoints", {}, CONFIG).value.value ?? [];
  const picked = useSignal<Place | undefined>(undefined);
  return { chosen: picked.value ?? usualPlace({ namespaces, endpoints }), picked, namespaces };
}

export function PlaceField({ place: { chosen, picked, namespaces } }: { readonly place: ChosenPlace }) {
  return (
    <SelectField
      label={texts.namespace}
      value={typeof chosen === "string" ? chosen : chosen.namespace}
      options={[
        ...namespaces.map(({ uuid, name }) => ({ value: uuid, label: texts.namespaceOf(name) })),
        { value: "new", label: texts.namespaceNew },
        { value: "none", label: texts.namespaceNone },
      ]}
      onInput={(value) => {
        picked.value = value === "new" || value === "none" ? value : { namespace: value };
      }}
    />
  );
}
