/** The draft of an endpoint or a namespace, and the function that saves it. */
import { send } from "./api/client.ts";
import type { Endpoint, Namespace } from "./api/types.ts";
import { refresh } from "./live/resource.ts";
import { shellTexts } from "./texts/shell.ts";
import { toastWithUndo } from "./undo.ts";
import { type DraftOf, useDraft } from "./use-draft.ts";
import { type Sending, useSending } from "./use-sending.ts";

interface Kinds {
  readonly endpoints: Endpoint;
  readonly namespaces: Namespace;
}

interface ObjectDraft<T> {
  readonly draft: DraftOf<T> & { readonly revision: number };
  readonly sending: Sending;
  readonly save: () => Promise<void>;
}

export function useObjectDraft<K extends keyof Kinds>(kind: K, object: Kinds[K]): ObjectDraft<Kinds[K]> {
  const { uuid, revision, name } = object;
  const draft = useDraft(`${kind} ${uuid}`, object);
  const sending = useSending();
  const save = async () => {
    const done = await sending.run(() =>
      send(`PATCH /${kind}/:uuid`, draft.patch, { params: { uuid }, revision }),
    );
    refresh(`/${kind}`);
    if (!done) return;
    draft.clear();
    await toastWithUndo(shellTexts.draft.saved(name));
  };
  return { draft: { ...draft, revision }, sending, save };
}
