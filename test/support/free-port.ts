/** Finds a free port for a program that cannot choose one itself. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * A free port outside the range of ephemeral ports, so that the system does not give it to another program.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + randomInt(10_000);
    const server = createServer();
    const listens = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!listens) continue;
    await new Promise((closed) => server.close(closed));
    return port;
  }
}
