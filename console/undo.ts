/**
 * Shows a toast after a config change, with a button that restores the previous revision as long as no other
 * change followed.
 */
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

/** Reverts one revision. Returns false if later revisions exist, because they would be reverted too. */
export async function revertRevision(revision: number): Promise<boolean> {
  if ((await latestRevision()) !== revision) return false;
  await send("POST /revisions/:n/rollback", undefined, { params: { n: revision - 1 } });
  return true;
}

async function undo(revision: number): Promise<void> {
  try {
    const done = await revertRevision(revision);
    toast(done ? { text: undoTexts.undone } : { kind: "failed", text: undoTexts.newer });
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    toast({ kind: "failed", text: error.message });
  }
}

async function latestRevision(): Promise<number | undefined> {
  return (await get("/revisions", { limit: 1 })).items[0]?.n;
}
