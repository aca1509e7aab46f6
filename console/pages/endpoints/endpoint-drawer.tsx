/** The drawer of an endpoint: connecting, preview, settings, access, pipeline, self-test. */
import type { ComponentChildren } from "preact";
import type { Endpoint } from "../../api/types.ts";
import { Drawer } from "../../components/drawer.tsx";
import { Status } from "../../components/status.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { address, go, setQuery } from "../../navigate.ts";
import type { LayerEntry } from "../../pipeline/layer-entry.ts";
import { PipelineEditor } from "../../pipeline/pipeline-editor.tsx";
import { may } from "../../session.ts";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { endpointsTexts } from "../../texts/endpoints.ts";
import { pipelineTexts } from "../../texts/pipeline.ts";
import { policyTexts } from "../../texts/policy.ts";
import { shellTexts } from "../../texts/shell.ts";
import { useObjectDraft } from "../../use-object-draft.ts";
import { AccessTab } from "./access-tab.tsx";
import { ConnectTab } from "./connect-tab.tsx";
import { MatrixTab } from "./matrix-tab.tsx";
import { PreviewTab } from "./preview-tab.tsx";
import { SettingsTab } from "./settings-tab.tsx";
import { TestTab } from "./test-tab.tsx";

const texts = endpointsTexts.tabs;

interface TabContent {
  readonly id: string;
  readonly label: string;
  readonly show: (endpoint: Endpoint) => ComponentChildren;
}

export function EndpointDrawer({ endpoint }: { readonly endpoint: Endpoint }) {
  const { query } = address.value;
  const tabs = allowedTabs();
  const active = tabs.find(({ id }) => id === query["tab"]) ?? tabs[0];
  const { tab: _, ...rest } = query;
  return (
    <Drawer
      title={endpoint.name}
      titleMono
      subtitle={
        endpoint.disabled ? (
          <Status state="off" word={endpointsTexts.disabled} reason={endpoint.description} />
        ) : (
          endpoint.description
        )
      }
      onClose={() => go({ page: "endpoints", query: rest })}
    >
      <Tabs
        label={texts.label}
        tabs={tabs.map(({ id, label }) => ({ id, label }))}
        active={active?.id ?? ""}
        onChange={(tab) => setQuery({ tab })}
      >
        {active?.show(endpoint)}
      </Tabs>
    </Drawer>
  );
}

/** Returns the tabs that the person may use. */
function allowedTabs(): readonly TabContent[] {
  const all: readonly (TabContent & { readonly shown: boolean })[] = [
    { id: "connect", label: texts.connect, show: (one) => <ConnectTab endpoint={one} />, shown: true },
    { id: "preview", label: texts.preview, show: (one) => <PreviewTab endpoint={one} />, shown: true },
    {
      id: "settings",
      label: texts.settings,
      show: (one) => <SettingsTab endpoint={one} />,
      shown: may("endpoints.write"),
    },
    {
      id: "access",
      label: texts.access,
      show: (one) => <AccessTab endpoint={one} />,
      shown: may("access.write"),
    },
    {
      id: "pipeline",
      label: texts.pipeline,
      show: (one) => <PipelineTab endpoint={one} />,
      shown: true,
    },
    {
      id: "matrix",
      label: policyTexts.matrix.tab,
      show: (one) => <MatrixTab endpoint={one} />,
      shown: may("settings"),
    },
    {
      id: "test",
      label: texts.test,
      show: (one) => <TestTab endpoint={one} />,
      shown: may("endpoints.write"),
    },
  ];
  return all.filter(({ shown }) => shown);
}

/** Edits the pipeline of an endpoint, or shows it to those who may not. */
function PipelineTab({ endpoint }: { readonly endpoint: Endpoint }) {
  const { draft, sending, save } = useObjectDraft("endpoints", endpoint);
  const isManaged = endpoint.managedBy !== "api";
  const readOnly = isManaged || !may("endpoints.write");
  return (
    <div class="stack">
      {isManaged && <p>{shellTexts.managed(endpoint.managedBy)}</p>}
      <PipelineEditor
        readOnly={readOnly}
        place={{ kind: "endpoint", uuid: endpoint.uuid }}
        value={(draft.value.middleware ?? []) as readonly LayerEntry[]}
        faultOf={(path) => sending.faultOf(`/middleware${path}`)}
        onInput={(middleware) => draft.set({ middleware } as Partial<Endpoint>)}
      />
      {!readOnly && <DraftBar draft={draft} sending={sending} save={pipelineTexts.save} onSave={save} />}
    </div>
  );
}
