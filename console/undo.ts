/** Shows a toast after a config change, with a button that undoes this one revision. */
import { ApiProblem, get, send } from "./api/client.ts";
import { toast } from "./components/toasts.tsx";
import { may } from "./session.ts";
import { undoTexts } from "./texts/undo.ts";

/** Called directly after a config change. */
export async function toastWithUndo(text: string): Promise<void> {
  const revision = may("config.apply") ? await latestRevision() : undefined;
  if (revision === undefined) toast({ text });
  else toast({ text, undo: () => void undo(revision) });
}

/** Later revisions stay. The gateway refuses it if one of them changed the same values. */
export async function revertRevision(revision: number): Promise<void> {
  await send("POST /revisions/:n/undo", undefined, { params: { n: revision } });
}

async function undo(revision: number): Promise<void> {
  try {
    await revertRevision(revision);
    toast({ text: undoTexts.undone });
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    toast({ kind: "failed", text: error.message });
  }
}

async function latestRevision(): Promise<number | undefined> {
  return (await get("/revisions", { limit: 1 })).items[0]?.n;
}
