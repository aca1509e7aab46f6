/** An endpoint that is edited, and how it is saved. */
import { send } from "../../api/client.ts";
import type { Endpoint } from "../../api/types.ts";
import { toast } from "../../components/toasts.tsx";
import { refresh } from "../../live/resource.ts";
import { endpointsTexts } from "../../texts/endpoints.ts";
import { type DraftOf, useDraft } from "../../use-draft.ts";
import { type Sending, useSending } from "../../use-sending.ts";

interface EndpointDraft {
  readonly draft: DraftOf<Endpoint>;
  readonly sending: Sending;
  readonly save: () => void;
}

export function useEndpointDraft(endpoint: Endpoint): EndpointDraft {
  const draft = useDraft(endpoint);
  const sending = useSending();
  const { uuid, revision } = endpoint;
  const save = async () => {
    const done = await sending.run(() =>
      send("PATCH /endpoints/:uuid", draft.patch, { params: { uuid }, revision }),
    );
    refresh("/endpoints");
    if (!done) return;
    draft.clear();
    toast({ text: endpointsTexts.form.saved });
  };
  return { draft, sending, save: () => void save() };
}
