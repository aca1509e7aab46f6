/** The drawer of a namespace: tools, servers, settings, pipeline. */
import type { ComponentChildren } from "preact";
import type { Endpoint, Namespace } from "../../api/types.ts";
import { Drawer } from "../../components/drawer.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { address, go, setQuery } from "../../navigate.ts";
import type { LayerEntry } from "../../pipeline/layer-entry.ts";
import { PipelineEditor } from "../../pipeline/pipeline-editor.tsx";
import { may } from "../../session.ts";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { namespacesTexts } from "../../texts/namespaces.ts";
import { pipelineTexts } from "../../texts/pipeline.ts";
import { shellTexts } from "../../texts/shell.ts";
import { useObjectDraft } from "../../use-object-draft.ts";
import { ServersTab } from "./servers-tab.tsx";
import { SettingsTab } from "./settings-tab.tsx";
import { type ToolCounts, ToolsTab } from "./tools-tab.tsx";

const texts = namespacesTexts.tabs;

interface NamespaceDrawerProps {
  readonly namespace: Namespace;
  readonly counts: ToolCounts | undefined;
  /** The endpoints that offer this namespace. */
  readonly endpoints: readonly Endpoint[];
}

export function NamespaceDrawer({ namespace, counts, endpoints }: NamespaceDrawerProps) {
  const { query } = address.value;
  const { tab = "tools", ...rest } = query;
  const mayWrite = may("namespaces.write");
  const shown: Readonly<Record<string, () => ComponentChildren>> = {
    tools: () => <ToolsTab namespace={namespace} counts={counts} />,
    ...(mayWrite && {
      servers: () => <ServersTab namespace={namespace} />,
      settings: () => <SettingsTab namespace={namespace} endpoints={endpoints} />,
      pipeline: () => <PipelineTab namespace={namespace} />,
    }),
  };
  const label = {
    tools: texts.tools,
    servers: texts.servers,
    settings: texts.settings,
    pipeline: texts.pipeline,
  };
  const names = Object.keys(shown) as (keyof typeof label)[];
  const active = shown[tab] ? tab : "tools";
  const file = namespace.managedBy === "api" ? undefined : namespace.managedBy;
  return (
    <Drawer
      title={namespace.name}
      titleMono
      subtitle={namespace.description}
      onClose={() => go({ page: "namespaces", query: rest })}
    >
      <Tabs
        label={texts.label}
        tabs={names.map((id) => ({ id, label: label[id] }))}
        active={active}
        onChange={(to) => setQuery({ tab: to })}
      >
        {file && active !== "tools" ? <p>{shellTexts.managed(file)}</p> : shown[active]?.()}
      </Tabs>
    </Drawer>
  );
}

function PipelineTab({ namespace }: { readonly namespace: Namespace }) {
  const { draft, sending, save } = useObjectDraft("namespaces", namespace);
  return (
    <div class="stack">
      <PipelineEditor
        place={{ kind: "namespace", uuid: namespace.uuid }}
        value={(draft.value.middleware ?? []) as readonly LayerEntry[]}
        faultOf={(path) => sending.faultOf(`/middleware${path}`)}
        onInput={(middleware) => draft.set({ middleware } as Partial<Namespace>)}
      />
      <DraftBar draft={draft} sending={sending} save={pipelineTexts.save} onSave={save} />
    </div>
  );
}
