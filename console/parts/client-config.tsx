/**
 * The config to paste into a client that uses an endpoint. It contains the API key if one was just created.
 */
import { useSignal } from "@preact/signals";
import { CopyButton } from "../components/copy-button.tsx";
import { SelectField } from "../components/select-field.tsx";
import { CONFIG, useResource } from "../live/resource.ts";
import { Ready } from "../shell/ready.tsx";
import { overviewTexts } from "../texts/overview.ts";
import "./client-config.css";

const texts = overviewTexts.start.paste;
const DEFAULT_CLIENT = "claude-code";
/** The placeholder of the key in the text of the gateway. */
const KEY_PLACEHOLDER = /\bKEY\b/g;

interface ClientConfigProps {
  /** uuid. */
  readonly endpoint: string;
  readonly apiKey?: string | undefined;
}

export function ClientConfig({ endpoint, apiKey }: ClientConfigProps) {
  const loaded = useResource("/endpoints/:uuid/clients", { uuid: endpoint }, CONFIG);
  const chosen = useSignal(DEFAULT_CLIENT);
  return (
    <Ready of={loaded}>
      {({ items }) => {
        const one = items.find(({ client }) => client === chosen.value) ?? items[0];
        if (!one) return null;
        const text = apiKey === undefined ? one.text : one.text.replace(KEY_PLACEHOLDER, apiKey);
        return (
          <div class="stack-small">
            <SelectField
              label={texts.client}
              value={one.client}
              options={items.map(({ client, title }) => ({ value: client, label: title }))}
              onInput={(client) => (chosen.value = client)}
            />
            <p class="muted">
              <bdi>{texts.file(one.file)}</bdi>
            </p>
            <div class="client-config">
              <pre>{text}</pre>
              <CopyButton text={text} label={texts.copy} />
            </div>
            {apiKey === undefined && one.text !== one.text.replace(KEY_PLACEHOLDER, "") && (
              <p class="muted">{texts.withoutKey}</p>
            )}
          </div>
        );
      }}
    </Ready>
  );
}
