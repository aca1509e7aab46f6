/** Runs requests to the gateway and shows a toast if the gateway refuses one. */
import { ApiProblem } from "./api/client.ts";
import { toast } from "./components/toasts.tsx";

export async function runWithToast(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    toast({ kind: "failed", text: error.message });
  }
}
