/** Says what was changed, with a way back: the revision before, as long as nothing else was changed since. */
import { ApiProblem, get, send } from "./api/client.ts";
import { toast } from "./components/toasts.tsx";
import { may } from "./session.ts";
import { undoTexts } from "./texts/undo.ts";

/** Called right after a change of the config. */
export async function toastWithUndo(text: string): Promise<void> {
  const revision = may("config.apply") ? await latest() : undefined;
  if (revision === undefined) toast({ text });
  else toast({ text, undo: () => void undo(revision) });
}

/** Takes one revision back. False where others came after it: going back would take them along. */
export async function takeBack(revision: number): Promise<boolean> {
  if ((await latest()) !== revision) return false;
  await send("POST /revisions/:n/rollback", undefined, { params: { n: revision - 1 } });
  return true;
}

async function undo(revision: number): Promise<void> {
  try {
    const done = await takeBack(revision);
    toast(done ? { text: undoTexts.undone } : { kind: "failed", text: undoTexts.newer });
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    toast({ kind: "failed", text: error.message });
  }
}

async function latest(): Promise<number | undefined> {
  return (await get("/revisions", { limit: 1 })).items[0]?.n;
}
