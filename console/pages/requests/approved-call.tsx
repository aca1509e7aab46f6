/** How an approved call ended, with a link to it. Older calls are in the audit log only. */
import { hrefOf } from "../../address.ts";
import type { Approval } from "../../api/types.ts";
import { duration } from "../../format.ts";
import { useResource } from "../../live/resource.ts";
import { Outcome } from "../../parts/outcome.tsx";
import { may } from "../../session.ts";
import { requestsTexts } from "../../texts/requests.ts";

const texts = requestsTexts.calls;
const POLL_MS = 2_000;
const LIMIT = 100;

export function ApprovedCall({ approval: { uuid, server, tool } }: { readonly approval: Approval }) {
  const asked = may("stats.read") ? { server: server.name, tool, limit: LIMIT } : undefined;
  const calls = useResource("/calls", asked, { everyMs: POLL_MS }).value.value;
  const call = calls?.items.find(({ approval }) => approval?.uuid === uuid);
  return (
    <>
      {call && (
        <p class="line">
          <Outcome of={call} />
          <span class="muted">{duration(call.durationMs)}</span>
          <a href={hrefOf({ page: "traffic", id: String(call.id) })}>{texts.openCall}</a>
        </p>
      )}
      {!call && may("audit.read") && (
        <p>
          <a href={hrefOf({ page: "audit", query: { tool, server: server.name } })}>{texts.outcome}</a>
        </p>
      )}
    </>
  );
}
