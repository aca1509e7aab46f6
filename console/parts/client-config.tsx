/**
 * How a client is told of an endpoint: a command, a link, or the config to paste. It contains the API key if
 * one was just created.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { ItemOf } from "../../src/admin/route-types.ts";
import { Button } from "../components/button.tsx";
import { CopyButton } from "../components/copy-button.tsx";
import { CONFIG, useResource } from "../live/resource.ts";
import { Ready } from "../shell/ready.tsx";
import { connectTexts as texts } from "../texts/connect.ts";
import { installLink, systemOf } from "./install-link.ts";
import "./client-config.css";
import "./connect.css";

const DEFAULT_CLIENT = "claude-code";
/** The placeholder of the key in the text of the gateway. */
const KEY_PLACEHOLDER = /\bKEY\b/g;

type Snippet = ItemOf<"/endpoints/:uuid/clients">;

interface ClientConfigProps {
  /** uuid. */
  readonly endpoint: string;
  readonly apiKey?: string | undefined;
  /** Shown between the clients and what to do: the button that creates the key. */
  readonly before?: ComponentChildren;
}

export function ClientConfig({ endpoint, apiKey, before }: ClientConfigProps) {
  const loaded = useResource("/endpoints/:uuid/clients", { uuid: endpoint }, CONFIG);
  const chosen = useSignal(DEFAULT_CLIENT);
  return (
    <Ready of={loaded}>
      {({ name, items }) => {
        const one = items.find(({ client }) => client === chosen.value) ?? items[0];
        if (!one) return null;
        return (
          <div class="stack">
            <fieldset class="client-tiles">
              <legend>{texts.client}</legend>
              {items.map(({ client, title }) => (
                <label key={client} class="client-tile">
                  <input
                    type="radio"
                    name={`client ${endpoint}`}
                    checked={client === one.client}
                    onChange={() => (chosen.value = client)}
                  />
                  {title}
                </label>
              ))}
            </fieldset>
            {before}
            <Steps
              name={name}
              snippet={one}
              apiKey={apiKey}
              withoutKey={before ? texts.withoutKey : texts.ownKey}
            />
          </div>
        );
      }}
    </Ready>
  );
}

interface StepsProps {
  readonly name: string;
  readonly snippet: Snippet;
  readonly apiKey: string | undefined;
  /** Where the key of a text without one comes from. */
  readonly withoutKey: string;
}

function Steps({ name, snippet, apiKey, withoutKey }: StepsProps) {
  const { client, title, files, text, command, entry } = snippet;
  const withKey = (written: string) =>
    apiKey === undefined ? written : written.replace(KEY_PLACEHOLDER, apiKey);
  // A link must not install the placeholder.
  const complete = apiKey !== undefined || !text.includes("KEY");
  const link = installLink(client, {
    name,
    entry: JSON.parse(withKey(JSON.stringify(entry))) as typeof entry,
  });
  return (
    <div class="stack-small">
      {command !== undefined && (
        <>
          <p>{texts.command}</p>
          <Lines text={withKey(command)} copy={texts.copyCommand} />
        </>
      )}
      {link !== undefined && complete && (
        <div class="line">
          <Button kind="primary" href={link}>
            {texts.install(title)}
          </Button>
        </div>
      )}
      {(command !== undefined || (link !== undefined && complete)) && <p class="muted">{texts.or}</p>}
      <p class="muted">
        <bdi>{texts.paste(files[systemOf(navigator.userAgent)])}</bdi>
      </p>
      <Lines text={withKey(text)} copy={texts.copy} />
      {apiKey !== undefined && <p>{texts.keyMade}</p>}
      {!complete && <p class="muted">{withoutKey}</p>}
    </div>
  );
}

function Lines({ text, copy }: { readonly text: string; readonly copy: string }) {
  return (
    <div class="client-config">
      <pre>{text}</pre>
      <CopyButton text={text} label={copy} />
    </div>
  );
}
