/** Shows how to connect a client: the address, and the config to paste. */
import { useSignal } from "@preact/signals";
import { hrefOf } from "../../address.ts";
import type { Endpoint } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { CodeField } from "../../components/code-field.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { CopyLine } from "../../components/empty-state.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { CONFIG, useResource } from "../../live/resource.ts";
import { may } from "../../session.ts";
import { Ready } from "../../shell/ready.tsx";
import { endpointsTexts } from "../../texts/endpoints.ts";

const texts = endpointsTexts.connect;

export function ConnectTab({ endpoint }: { readonly endpoint: Endpoint }) {
  const clients = useResource("/endpoints/:uuid/clients", { uuid: endpoint.uuid }, CONFIG);
  const chosen = useSignal("");
  return (
    <Ready of={clients}>
      {({ url, items }) => {
        const pasted = items.find(({ client }) => client === chosen.value) ?? items[0];
        return (
          <div class="stack">
            <p>{texts.text}</p>
            <CopyLine text={url} name={texts.address} />
            {endpoint.openapi && (
              <>
                <h3>{texts.openapi}</h3>
                <CopyLine text={url.replace(/mcp$/, "api/openapi.json")} />
              </>
            )}
            <SelectField
              label={texts.client}
              value={pasted?.client ?? ""}
              options={items.map(({ client, title }) => ({ value: client, label: title }))}
              onInput={(client) => (chosen.value = client)}
            />
            {pasted && (
              <>
                <p class="muted">
                  {texts.file} <code>{pasted.file}</code>
                </p>
                <CodeField label={pasted.title} labelHidden value={pasted.text} onInput={() => {}} readOnly />
                <div class="line">
                  <CopyButton text={pasted.text} />
                  {pasted.text.includes("KEY") && <span class="muted">{texts.key}</span>}
                </div>
              </>
            )}
            <div class="line">
              {may("keys.write") && (
                <Button href={hrefOf({ page: "keys", query: { new: "1" } })}>{texts.createKey}</Button>
              )}
              {may("endpoints.try") && (
                <Button href={hrefOf({ page: "try", query: { endpoint: endpoint.uuid } })}>
                  {texts.tryIt}
                </Button>
              )}
            </div>
          </div>
        );
      }}
    </Ready>
  );
}
