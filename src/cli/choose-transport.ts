/** Creates the transport of the settings. Loads HTTP only if it is used. */
import type { IncomingMessage } from "node:http";
import { UsageError } from "../config/command-line.ts";
import type { Settings } from "../config/flags.ts";
import type { Log } from "../kernel/log.ts";
import { systemClock as clock } from "../system-clock.ts";
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
  const front = {
    host,
    port,
    token,
    log,
    accessLog: settings.accessLog
      ? { addressOf: ({ socket }: IncomingMessage) => socket.remoteAddress ?? "" }
      : undefined,
    tls: tls ? { cert: tlsCert, key: tlsKey } : undefined,
    allowHosts: settings.allowHost,
    allowOrigins: settings.allowOrigin,
    // People and scripts read this line, so it does not depend on the log level.
    onListening: (url: string) => printError(url),
  };
  if (settings.transport === "sse") {
    return (await import("../transport/http/sse.ts")).createSseTransport(front);
  }
  return (await import("../transport/http/streamable.ts")).createStreamableTransport({
    ...front,
    clock,
    stateless: settings.stateless,
    jsonResponse: settings.jsonResponse,
    sessionTimeoutMs: settings.sessionTimeout,
  });
}
