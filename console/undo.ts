/** Shows a toast after a config change, with a button that undoes this one revision. */
import { ApiProblem, get, send } from "./api/client.ts";
import { toast } from "./components/toasts.tsx";
import { may } from "./session.ts";
import { undoTexts } from "./texts/undo.ts";

/** Called directly after a config change. `made` are the revisions that it made; default: the latest one. */
export async function toastWithUndo(text: string, made?: readonly number[]): Promise<void> {
  const revisions = may("config.apply") ? (made ?? (await latestRevision())) : [];
  if (revisions.length === 0) toast({ text });
  else toast({ text, undo: () => void undo(revisions) });
}

/** Later revisions stay. The gateway refuses it if one of them changed the same values. */
export async function revertRevision(revision: number): Promise<void> {
  await send("POST /revisions/:n/undo", undefined, { params: { n: revision } });
}

async function undo(revisions: readonly number[]): Promise<void> {
  try {
    for (const revision of revisions.toReversed()) await revertRevision(revision);
    toast({ text: undoTexts.undone });
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    toast({ kind: "failed", text: error.message });
  }
}

async function latestRevision(): Promise<readonly number[]> {
  return (await get("/revisions", { limit: 1 })).items.map(({ n }) => n);
}
