/** Edits the pipeline of an endpoint. */
import type { Endpoint } from "../../api/types.ts";
import { type LayerEntry, PipelineEditor } from "../../pipeline/pipeline-editor.tsx";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { pipelineTexts as texts } from "../../texts/pipeline.ts";
import { shellTexts } from "../../texts/shell.ts";
import { useObjectDraft } from "../../use-object-draft.ts";

export function PipelineTab({ endpoint }: { readonly endpoint: Endpoint }) {
  const { draft, sending, save } = useObjectDraft("endpoints", endpoint);
  if (endpoint.managedBy !== "api") return <p>{shellTexts.managed(endpoint.managedBy)}</p>;
  return (
    <div class="stack">
      <PipelineEditor
        value={(draft.value.middleware ?? []) as readonly LayerEntry[]}
        faultOf={(path) => sending.faultOf(`/middleware${path}`)}
        onInput={(middleware) => draft.set({ middleware } as Partial<Endpoint>)}
      />
      <DraftBar draft={draft} sending={sending} save={texts.save} onSave={save} />
    </div>
  );
}
