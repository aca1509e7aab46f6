/** Creates the transport of the settings. Loads HTTP only if it is used. */
import type { AddressOf } from "../access/client-address.ts";
import { UsageError } from "../config/command-line.ts";
import type { Settings } from "../config/flags.ts";
import { systemClock as clock } from "../engine/system-clock.ts";
import { Events } from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";
import type { GuardedRequest } from "../transport/http/guard.ts";
import { createStdioTransport } from "../transport/stdio.ts";
import type { Transport } from "../transport/transport.ts";
import { printError } from "./print.ts";

export async function chooseTransport(settings: Settings, log: Log): Promise<Transport> {
  if (settings.transport === "stdio") {
    return createStdioTransport({
      input: process.stdin,
      output: process.stdout,
      maxMessageBytes: settings.maxMessage,
      clock,
    });
  }
  const { isLoopback } = await import("../transport/http/guard.ts");
  const { host, token, port, tls, tlsCert = "", tlsKey = "", noAuth } = settings;
  if (!isLoopback(host) && token === undefined && !noAuth) {
    throw new UsageError(
      `--host ${host} can be reached from other machines: set METAMCP_TOKEN, or use --no-auth behind an authenticating proxy.`,
    );
  }
  const addressOf: AddressOf = ({ socket }) => socket.remoteAddress ?? "";
  const counter = token === undefined ? undefined : await wrongTokens(log, addressOf);
  const front = {
    host,
    port,
    token,
    log,
    onWrongToken: counter?.count,
    accessLog: settings.accessLog ? { addressOf } : undefined,
    tls: tls ? { cert: tlsCert, key: tlsKey } : undefined,
    allowHosts: settings.allowHost,
    allowOrigins: settings.allowOrigin,
    clock,
    heartbeatMs: settings.heartbeat,
    // People and scripts read this line, so it does not depend on the log level.
    onListening: (url: string) => printError(url),
  };
  const transport =
    settings.transport === "sse"
      ? (await import("../transport/http/sse.ts")).createSseTransport(front)
      : (await import("../transport/http/streamable.ts")).createStreamableTransport({
          ...front,
          stateless: settings.stateless,
          jsonResponse: settings.jsonResponse,
          sessionTimeoutMs: settings.sessionTimeout,
        });
  return {
    ...transport,
    async close() {
      counter?.flush();
      await transport.close();
    },
  };
}

/** Logs and limits wrong tokens as a gateway does. */
async function wrongTokens(
  log: Log,
  addressOf: AddressOf,
): Promise<{ readonly count: (request: GuardedRequest) => number | undefined; flush(): void }> {
  const [{ RefusedCredentials }, { logRefusedLogins }] = await Promise.all([
    import("../access/refused-credentials.ts"),
    import("../serving/logins/log-refused-logins.ts"),
  ]);
  const events = new Events();
  logRefusedLogins(events, log);
  const refused = new RefusedCredentials({ events, clock }, addressOf);
  return {
    count: (request) => refused.limit(request, { by: "token" }),
    flush: () => refused.flush(),
  };
}
