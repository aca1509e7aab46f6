/** Sends the decision about a waiting call. */
import { send } from "../../api/client.ts";
import { toast } from "../../components/toasts.tsx";
import { refresh } from "../../live/resource.ts";
import { requestsTexts } from "../../texts/requests.ts";
import { type Sending, useSending } from "../../use-sending.ts";

const texts = requestsTexts.calls;

export interface Decision {
  readonly sending: Sending;
  readonly decide: (verb: "approve" | "refuse", comment?: string) => Promise<void>;
}

export function useDecision(uuid: string): Decision {
  const sending = useSending();
  const decide = async (verb: "approve" | "refuse", comment = "") => {
    const body = comment ? { comment } : {};
    const route = verb === "approve" ? "POST /approvals/:uuid/approve" : "POST /approvals/:uuid/refuse";
    const done = await sending.run(() => send(route, body, { params: { uuid } }));
    // Somebody else may have decided first. The list shows their decision.
    refresh("/approvals");
    if (done) toast({ text: verb === "approve" ? texts.approved : texts.refused });
  };
  return { sending, decide };
}
