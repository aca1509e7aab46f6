/** Connects a server for a request of a client. */
import type { Lease } from "../kernel/call.ts";
import { aborted } from "../kernel/signal.ts";
import type { ScopeCalls } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

/** Rejects when the request is cancelled. A connection that opens after that is released. */
export async function connect(
  scope: ScopeCalls,
  server: string,
  { origin, signal }: Pick<ClientRequest, "origin" | "signal">,
): Promise<Lease> {
  const connecting = scope.connect(server, origin);
  try {
    return await Promise.race([connecting, aborted(signal)]);
  } catch (error) {
    void connecting.then(
      (lease) => lease.release(),
      () => {},
    );
    throw error;
  }
}
