/** Writes refused logins and credentials to the log: who tried, from where, and why they were refused. */
import type { CredentialRefused, Events } from "../../kernel/events.ts";
import type { Log } from "../../kernel/log.ts";

/** Returns the function that stops it. */
export function logRefusedLogins(events: Pick<Events, "on">, log: Log): () => void {
  return events.on((event) => {
    if (event.type === "credential") {
      logCredential(event, log);
      return;
    }
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

function logCredential({ by, count, address, endpoint }: CredentialRefused, log: Log): void {
  const what =
    count === 1 ? `unknown or expired ${by} refused` : `${count} more unknown or expired ${by}s refused`;
  const where = endpoint === undefined ? "" : ` at endpoint "${endpoint}"`;
  const from = address === undefined ? "many addresses" : address;
  log.info(`${what}${where}, from ${from}`, {
    by,
    count,
    ...(address && { address }),
    ...(endpoint && { endpoint }),
  });
}
