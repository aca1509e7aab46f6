/** The dialog that creates an endpoint. */
import { useSignal } from "@preact/signals";
import { send } from "../../api/client.ts";
import type { Endpoint } from "../../api/types.ts";
import { TextField } from "../../components/text-field.tsx";
import { refresh } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { endpointsTexts } from "../../texts/endpoints.ts";
import { useSending } from "../../use-sending.ts";
import { NamespacesField } from "./namespaces-field.tsx";
import { SurfaceField } from "./settings-tab.tsx";

const texts = endpointsTexts.form;

export function NewEndpoint({ onClose }: { readonly onClose: () => void }) {
  const name = useSignal("");
  const surface = useSignal<Endpoint["surface"]>("meta");
  const namespaces = useSignal<string[]>([]);
  const sending = useSending();
  const create = () =>
    sending.run(async () => {
      const body = { name: name.value, surface: surface.value, namespaces: namespaces.value };
      const { uuid } = await send("POST /endpoints", body);
      refresh("/endpoints");
      go({ page: "endpoints", id: uuid });
    });
  return (
    <FormDialog
      title={texts.title}
      submit={texts.create}
      sending={sending}
      onSubmit={create}
      onClose={onClose}
    >
      <TextField
        label={texts.name}
        hint={texts.nameHint(`/metamcp/${name.value || "NAME"}/mcp`)}
        required
        mono
        autofocus
        value={name.value}
        error={sending.faultOf("/name")}
        onInput={(text) => (name.value = text)}
      />
      <SurfaceField value={surface.value} onInput={(one) => (surface.value = one)} />
      <NamespacesField
        value={namespaces.value}
        error={sending.faultOf("/namespaces")}
        onInput={(value) => (namespaces.value = value)}
      />
    </FormDialog>
  );
}
