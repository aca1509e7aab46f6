/** Shows the live events of all replicas to those who watch at any of them. */
import type { RequestListener } from "node:http";
import type { Clock } from "../../kernel/clock.ts";
import type { EventFeed } from "../../observe/live/event-feed.ts";
import { LIVE_EVENT_TYPES, type LiveEvent } from "../../observe/live/live-event.ts";
import { EVENTS, EventRelay, type RelayParts } from "../../replica/event-relay.ts";

/**
 * Events about one replica. All others reach every replica through the store, so that each tells its own
 * watchers.
 */
const OF_ONE: ReadonlySet<LiveEvent["type"]> = new Set([
  "call",
  "connection",
  "breaker",
  "session",
  "admin",
  "login",
  "audit",
]);

export interface RelayedParts extends Pick<RelayParts, "asks" | "members"> {
  readonly routes: Map<string, RequestListener>;
  readonly clock: Clock;
}

export function relayEvents(feed: EventFeed, { routes, ...parts }: RelayedParts): EventRelay {
  const relay = new EventRelay({
    ...parts,
    onEvents: (type, text, count) => feed.relay(type as LiveEvent["type"], text, count),
  });
  feed.onWanted = (wanted) => relay.want(wanted);
  routes.set(EVENTS, (request, response) => {
    const withCalls = request.url?.endsWith("?all") === true;
    const types = LIVE_EVENT_TYPES.filter((type) => OF_ONE.has(type) && (withCalls || type !== "call"));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const stop = feed.addReplica(response, new Set(types));
    response.once("close", stop);
  });
  return relay;
}
