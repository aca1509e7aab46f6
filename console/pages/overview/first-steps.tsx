/** The first three steps of the first run: servers, endpoint, key. */
import { useSignal } from "@preact/signals";
import { getPages, itemsOf, send } from "../../api/client.ts";
import type { Endpoint, Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { useList } from "../../live/resource.ts";
import { me } from "../../session.ts";
import { Refused } from "../../shell/refused.tsx";
import { overviewTexts } from "../../texts/overview.ts";
import { useSending } from "../../use-sending.ts";
import { type AddTab, AddTabs } from "../servers/add-tabs.tsx";
import { addToNamespace } from "../servers/add-to-namespace.ts";
import "../servers/servers.css";

const texts = overviewTexts.start;

interface ServersStepProps {
  readonly servers: readonly Server[];
  readonly adding: boolean;
  readonly onAdd: () => void;
  readonly onDone: () => void;
}

export function ServersStep({ servers, adding, onAdd, onDone }: ServersStepProps) {
  const tab = useSignal<AddTab>("paste");
  if (adding)
    return (
      <>
        <p class="muted">{texts.servers.text}</p>
        <AddTabs tab={tab.value} onTab={(next) => (tab.value = next)} onDone={onDone} />
      </>
    );
  return (
    <div class="line spread">
      <ForeignText text={texts.servers.done(servers.map(({ name }) => name).join(", "))} />
      <Button size="small" onClick={onAdd}>
        {texts.servers.more}
      </Button>
    </div>
  );
}

export function EndpointStep({ servers }: { readonly servers: readonly Server[] }) {
  const sending = useSending();
  const create = () =>
    sending.run(async () => {
      const [namespaces, endpoints] = await Promise.all([getPages("/namespaces"), getPages("/endpoints")]);
      const existing = {
        namespaces: itemsOf<"/namespaces">(namespaces),
        endpoints: itemsOf<"/endpoints">(endpoints),
      };
      await addToNamespace(
        servers.map(({ uuid }) => uuid),
        "new",
        existing,
      );
    });
  return (
    <>
      <p class="muted">{texts.endpoint.text}</p>
      <Refused problem={sending.problem} />
      <div class="line">
        <Button kind="primary" busy={sending.busy} onClick={() => void create()}>
          {texts.endpoint.make}
        </Button>
      </div>
    </>
  );
}

interface KeyStepProps {
  readonly endpoint: Endpoint;
  /** One goes on with a key that was created before. */
  readonly hasOne: boolean;
  /** Empty for a key that was created before: its text is not known here. */
  readonly onMade: (key: string) => void;
}

export function KeyStep({ endpoint, hasOne, onMade }: KeyStepProps) {
  const sending = useSending();
  const create = () =>
    sending.run(async () => {
      const owner = me.value?.account?.uuid;
      const limits = { endpoints: [endpoint.uuid], ...(owner !== undefined && { owner }) };
      onMade((await send("POST /api-keys", { name: texts.key.name, ...limits })).key ?? "");
    });
  const keys = useList("/api-keys", {}, {}).value.value ?? [];
  const before = keys.some(({ endpoints }) => endpoints === "all" || endpoints?.includes(endpoint.uuid));
  return (
    <>
      {hasOne ? <p>{texts.key.gone}</p> : <p class="muted">{before ? texts.key.before : texts.key.text}</p>}
      <Refused problem={sending.problem} />
      <div class="line">
        {before && !hasOne && (
          <Button kind="primary" onClick={() => onMade("")}>
            {texts.key.have}
          </Button>
        )}
        <Button kind={before ? "plain" : "primary"} busy={sending.busy} onClick={() => void create()}>
          {before ? texts.key.another : texts.key.make}
        </Button>
      </div>
    </>
  );
}
