/**
 * Connects a client to an endpoint in one step: the client, a key made here, what to do there, the first
 * call.
 */
import { useSignal } from "@preact/signals";
import { send } from "../api/client.ts";
import { Button } from "../components/button.tsx";
import { refresh } from "../live/resource.ts";
import { may, me } from "../session.ts";
import { Refused } from "../shell/refused.tsx";
import { connectTexts as texts } from "../texts/connect.ts";
import { useSending } from "../use-sending.ts";
import { ClientConfig } from "./client-config.tsx";
import { FirstCall } from "./first-call.tsx";
import "./connect.css";

export interface ConnectedEndpoint {
  readonly uuid: string;
  readonly name: string;
  readonly access: { readonly keys: boolean; readonly oauth: boolean; readonly public?: boolean };
}

export function Connect({ endpoint }: { readonly endpoint: ConnectedEndpoint }) {
  const { keys, oauth, public: open = false } = endpoint.access;
  const apiKey = useSignal<string | undefined>(undefined);
  const needsKey = keys && !open;
  return (
    <div class="stack">
      <ClientConfig
        endpoint={endpoint.uuid}
        apiKey={apiKey.value}
        {...(needsKey && may("keys.write") && apiKey.value === undefined
          ? { before: <MakeKey endpoint={endpoint} onMade={(key) => (apiKey.value = key)} /> }
          : {})}
      />
      {oauth && <p class="muted">{texts.login}</p>}
      <FirstCall endpoint={endpoint} />
    </div>
  );
}

interface MakeKeyProps {
  readonly endpoint: ConnectedEndpoint;
  readonly onMade: (key: string) => void;
}

/** The key opens only this endpoint. */
function MakeKey({ endpoint, onMade }: MakeKeyProps) {
  const sending = useSending();
  const create = () =>
    sending.run(async () => {
      const owner = me.value?.account?.uuid;
      const body = { name: texts.keyName(endpoint.name), endpoints: [endpoint.uuid] };
      onMade((await send("POST /api-keys", { ...body, ...(owner !== undefined && { owner }) })).key ?? "");
      refresh("/api-keys");
    });
  return (
    <div class="stack-small">
      <div class="line">
        <Button kind="primary" busy={sending.busy} onClick={() => void create()}>
          {texts.makeKey}
        </Button>
        <span class="muted">{texts.keyText(endpoint.name)}</span>
      </div>
      <Refused problem={sending.problem} />
    </div>
  );
}
