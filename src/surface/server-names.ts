/** Lists server names in one line, as many as fit. */

const LONGEST_LINE = 100;

export function namesIn(servers: readonly string[]): string {
  return servers.length === 0 ? "No servers are configured yet." : `Servers: ${someOf(servers)}.`;
}

/** Returns e.g. "a, b and 3 more". */
export function someOf(servers: readonly string[]): string {
  let shown = "";
  for (const [at, name] of servers.entries()) {
    const next = at === 0 ? name : `${shown}, ${name}`;
    if (next.length > LONGEST_LINE)
      return `${shown === "" ? "" : `${shown} and `}${servers.length - at} more`;
    shown = next;
  }
  return shown;
}
