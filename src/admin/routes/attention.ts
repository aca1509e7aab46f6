/** Route for current problems and the number of objects, in one request. */
import { may } from "../../access/may.ts";
import { attentionFor } from "../attention.ts";
import type { Route } from "../route.ts";
import { ref } from "../schemas.ts";
import type { AdminParts } from "./parts.ts";

export function attentionRoutes(parts: AdminParts): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/attention",
      summary: "List current problems that the caller may see, worst first, and the number of objects",
      tag: "live",
      action: "me.read",
      answer: ref("Attention"),
      async handle({ principal }) {
        const now = Date.now();
        const requests = may(principal, "provision") ? await pendingRequests(parts) : 0;
        const items = attentionFor(parts, principal, { now, requests });
        const counts = may(principal, "objects.read") ? { counts: countsOf(parts) } : {};
        return { body: { at: new Date(now).toISOString(), items, ...counts } };
      },
    },
  ];
}

/** Requests are in the store. If it is unreachable, the list has its own item for that, so the count is 0. */
async function pendingRequests({ provisioning }: AdminParts): Promise<number> {
  const requests = await provisioning.requests().catch(() => []);
  return requests.filter(({ state }) => state === "pending").length;
}

function countsOf({ control, sessions, access }: AdminParts): object {
  const { servers, namespaces, endpoints } = control.compiled;
  const statuses = [...servers.keys()].map((uuid) => control.statusOf(uuid));
  const inState = (state: string): number => statuses.filter((status) => status.state === state).length;
  return {
    servers: {
      all: statuses.length,
      connected: statuses.filter(({ connected }) => connected).length,
      failed: inState("failed"),
      disabled: inState("disabled"),
    },
    tools: statuses.reduce((sum, { toolCount }) => sum + toolCount, 0),
    namespaces: namespaces.size,
    endpoints: endpoints.size,
    sessions: [...sessions.counts().values()].reduce((sum, count) => sum + count, 0),
    keys: access.keys.size,
  };
}
