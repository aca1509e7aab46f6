/** A namespace that is edited, and how it is saved. */
import { send } from "../../api/client.ts";
import type { Namespace } from "../../api/types.ts";
import { toast } from "../../components/toasts.tsx";
import { refresh } from "../../live/resource.ts";
import { namespacesTexts } from "../../texts/namespaces.ts";
import { type DraftOf, useDraft } from "../../use-draft.ts";
import { type Sending, useSending } from "../../use-sending.ts";

interface NamespaceDraft {
  readonly draft: DraftOf<Namespace>;
  readonly sending: Sending;
  readonly save: () => void;
}

export function useNamespaceDraft(namespace: Namespace): NamespaceDraft {
  const draft = useDraft(namespace);
  const sending = useSending();
  const { uuid, revision } = namespace;
  const save = async () => {
    const done = await sending.run(() =>
      send("PATCH /namespaces/:uuid", draft.patch, { params: { uuid }, revision }),
    );
    refresh("/namespaces");
    if (!done) return;
    draft.clear();
    toast({ text: namespacesTexts.form.saved });
  };
  return { draft, sending, save: () => void save() };
}
