/** Runs something that the gateway may refuse, and says so where it does. */
import { ApiProblem } from "./api/client.ts";
import { toast } from "./components/toasts.tsx";

export async function said(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    toast({ kind: "failed", text: error.message });
  }
}
