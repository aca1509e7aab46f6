/** Writes refused logins to the log: who tried, from where, and why they were refused. */
import type { Events } from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";

/** Returns the function that stops it. */
export function logRefusedLogins(events: Pick<Events, "on">, log: Log): () => void {
  return events.on((event) => {
    if (event.type !== "login" || event.outcome !== "refused" || event.reason === undefined) return;
    const { by, address, reason, tried = {} } = event;
    const who = [
      tried.email,
      tried.subject && `subject ${tried.subject}`,
      tried.groups === undefined ? undefined : `${tried.groups} groups`,
    ].filter((text) => text !== undefined && text !== "");
    const person = who.length > 0 ? ` of ${who.join(", ")}` : "";
    log.info(`login${person} refused: ${reason}`, { by, ...(address && { address }), ...tried });
  });
}
