/** Route for current problems and the number of objects, in one request. */

import { may } from "../../access/may.ts";
import { attentionFor } from "../attention.ts";
import { ATTENTION, type ObjectCounts } from "../attention-schemas.ts";
import { gather } from "../gather.ts";
import type { ServerStatus } from "../replica-schemas.ts";
import { route } from "../route.ts";
import { connectionsOf, wholeStatus } from "../server-status.ts";

import type { AdminParts } from "./parts.ts";
import { sum, wholeLoad } from "./stats.ts";

export function attentionRoutes(parts: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/attention",
      summary: "List current problems that the caller may see, worst first, and the number of objects",
      tag: "live",
      action: "me.read",
      answer: ATTENTION,
      async handle({ principal }) {
        const now = Date.now();
        const requests = may(principal, "provision") ? await pendingRequests(parts) : 0;
        const [connections, load] = await Promise.all([
          gather(parts, "connections", {}),
          gather(parts, "load", {}),
        ]);
        const { audit, sessions } = wholeLoad(load);
        const items = attentionFor(parts, principal, { now, requests, connections, audit });
        const whole = (uuid: string) => wholeStatus(principal, connectionsOf(connections, uuid));
        const counts = may(principal, "objects.read")
          ? { counts: countsOf(parts, whole, sum(sessions)) }
          : {};
        return { body: { at: new Date(now).toISOString(), items, ...counts } };
      },
    }),
  ];
}

/** Requests are in the store. If it is unreachable, the list has its own item for that, so the count is 0. */
async function pendingRequests({ provisioning }: AdminParts): Promise<number> {
  const requests = await provisioning.requests().catch(() => []);
  return requests.filter(({ state }) => state === "pending").length;
}

function countsOf(
  { control, access }: AdminParts,
  statusOf: (server: string) => ServerStatus,
  sessions: number,
): ObjectCounts {
  const { servers, namespaces, endpoints } = control.compiled;
  const statuses = [...servers.keys()].map(statusOf);
  const inState = (state: string): number => statuses.filter((status) => status.state === state).length;
  return {
    servers: {
      all: statuses.length,
      connected: statuses.filter(({ connected }) => connected).length,
      failed: inState("failed"),
      untried: statuses.filter(({ lastFailure }) => lastFailure).length,
      disabled: inState("disabled"),
    },
    tools: statuses.reduce((sum, { toolCount }) => sum + toolCount, 0),
    namespaces: namespaces.size,
    endpoints: endpoints.size,
    sessions,
    keys: access.keys.size,
  };
}
