/** Opens links to remote children over streamable HTTP and the deprecated HTTP+SSE. Makes no handshake. */
import type { ServerSpec } from "../../config/spec.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { ChildFailure, type Connector, type Link, type LinkEvents } from "../link.ts";
import type { Authorize } from "./authorization.ts";
import { HttpClient } from "./http-client.ts";
import { SseLink } from "./sse-link.ts";
import { StreamableLink } from "./streamable-link.ts";

export interface HttpConnectorOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  readonly authorize?: Authorize;
}

export function createHttpConnector(options: HttpConnectorOptions): Connector {
  return {
    async open(spec: ServerSpec, events: LinkEvents, signal: AbortSignal): Promise<Link> {
      if (spec.kind === "stdio" || spec.kind === "openapi")
        throw new ChildFailure("other", "this is no MCP server with a URL", { unsent: true });
      if (signal.aborted) throw aborted(signal);
      const http = new HttpClient(spec, options.authorize);
      if (spec.kind === "http") return new StreamableLink(http, events, options);
      return await openSse(new SseLink(http, events, options), signal);
    },
  };
}

async function openSse(link: SseLink, signal: AbortSignal): Promise<Link> {
  let abort: () => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    abort = () => reject(aborted(signal));
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    await Promise.race([link.open(), stopped]);
    return link;
  } catch (error) {
    await link.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** The failure of an aborted open. If the signal has a ChildFailure as its reason, it is that one. */
function aborted({ reason }: AbortSignal): ChildFailure {
  if (reason instanceof ChildFailure) return reason;
  return new ChildFailure("other", "connecting was cancelled", { unsent: true });
}
