/** What the state of a server at one replica says about its processes. */
import type { ConnectionStatus } from "../gateway/control.ts";

/** The number of connections of a server at a replica. */
export function processesOf({ connected, instances = 1 }: ConnectionStatus): number {
  return connected ? instances : 0;
}

/** Whether a restart of the server means this replica too. */
export function isStarted({ state }: ConnectionStatus): boolean {
  return state !== "closed" && state !== "disabled";
}
