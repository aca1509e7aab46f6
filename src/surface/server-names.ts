/** The names of the servers in a line of instructions: as many as fit. */

const ROOM = 100;

export function namesIn(servers: readonly string[]): string {
  if (servers.length === 0) return "No servers are configured yet.";
  let shown = "";
  for (const [at, name] of servers.entries()) {
    const next = at === 0 ? name : `${shown}, ${name}`;
    if (next.length > ROOM)
      return `Servers: ${shown === "" ? "" : `${shown} and `}${servers.length - at} more.`;
    shown = next;
  }
  return `Servers: ${shown}.`;
}
