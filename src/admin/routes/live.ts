/** Routes for the stream of live events, and for metrics. */

import type { ServerResponse } from "node:http";
import { type Action, may } from "../../access/may.ts";
import { TEXT } from "../../kernel/json-schema.ts";
import { VERSION } from "../../kernel/version.ts";
import type { WatcherRights } from "../../observe/live/event-feed.ts";
import { LIVE_EVENT_TYPES, type LiveEvent } from "../../observe/live/live-event.ts";
import { METRICS_TYPE } from "../../observe/metrics/metrics.ts";
import { LIVE_EVENT } from "../event-schemas.ts";
import { Problem } from "../problem.ts";
import { route } from "../route.ts";

import type { AdminParts } from "./parts.ts";

export function liveRoutes(parts: AdminParts) {
  return [eventsRoute(parts), metricsRoute(parts)];
}

/** The right that a reader needs for each type of event. */
const NEEDS: Readonly<Record<LiveEvent["type"], Action>> = {
  call: "stats.read",
  connection: "stats.read",
  breaker: "stats.read",
  pool: "stats.read",
  session: "sessions",
  revision: "history.read",
  update: "stats.read",
  tools: "objects.read",
  approval: "stats.read",
  admin: "audit.read",
  login: "audit.read",
  store: "stats.read",
  audit: "stats.read",
  changed: "me.read",
};

function eventsRoute({ observed, control }: AdminParts) {
  return route({
    method: "GET",
    path: "/events",
    summary: "Stream live events: calls, states, sessions, changes and the steps of server updates",
    tag: "live",
    // Rights are checked for each event.
    action: "me.read",
    query: {
      types: {
        ...TEXT,
        description: `only these types, separated by commas: ${LIVE_EVENT_TYPES.join(", ")}`,
      },
    },
    answer: LIVE_EVENT,
    answerTypes: ["text/event-stream"],
    handle({ query, principal }) {
      const given = query.types?.split(",");
      const unknown = given?.find((type) => !(LIVE_EVENT_TYPES as readonly string[]).includes(type));
      if (unknown !== undefined)
        throw new Problem(
          400,
          `unknown type "${unknown.slice(0, 64)}"; known: ${LIVE_EVENT_TYPES.join(", ")}`,
        );
      const { feed } = observed;
      if (feed.fullFor(principal)) throw new Problem(503, "too many readers of the event stream");
      const types = given && new Set(given);
      return {
        events(response: ServerResponse, reader) {
          const maySee: WatcherRights["maySee"] = (type, principal) =>
            (types?.has(type) ?? true) && may(principal, NEEDS[type]);
          return feed.add(response, { reader, maySee }, { version: VERSION, revision: control.revision });
        },
      };
    },
  });
}

function metricsRoute({ observed }: AdminParts) {
  return route({
    method: "GET",
    path: "/metrics",
    summary: "Read metrics in the text format of Prometheus; also at /metrics",
    tag: "live",
    action: "metrics.read",
    answer: TEXT,
    answerTypes: ["text/plain"],
    handle: () => ({
      text: { type: METRICS_TYPE, content: observed.metrics.text() },
    }),
  });
}
