/** A port for a program that must be told one. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** One that can be listened on, from where the system gives none to those who ask for any: it stays free. */
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
