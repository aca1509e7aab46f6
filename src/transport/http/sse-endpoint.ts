/** The deprecated HTTP+SSE transport of one endpoint: a stream per client, and a path to post to. */
import type { ServerResponse } from "node:http";
import { MetaMcpError } from "../../kernel/errors.ts";
import { isMeant, type Principal, samePrincipal } from "../../kernel/principal.ts";
import { traceHeadersIn } from "../../kernel/traceparent.ts";
import { encode } from "../../rpc/encode.ts";
import { encodeEvent } from "../../rpc/event-stream.ts";
import type { Session, Traced } from "../../session/session.ts";
import { ENDED, OVER, REVOKED } from "../ended.ts";
import type { Host } from "../transport.ts";
import { readMessageOf } from "./body.ts";
import { type Received, refuse, refuseFor } from "./front.ts";
import { writeOrCut } from "./unread.ts";

const MOST_SESSIONS = 10_000;
const BEAT_MS = 25_000;
const NONE = "there is no such session: open the event stream first";

interface Open {
  readonly session: Session;
  readonly principal: Principal;
  readonly response: ServerResponse;
}

export class SseEndpoint {
  readonly #host: Host;
  readonly #messagePath: string;
  readonly #open = new Map<string, Open>();
  readonly #beat: NodeJS.Timeout;

  /** `messagePath`: where clients post to, as they are told. */
  constructor(host: Host, messagePath: string) {
    this.#host = host;
    this.#messagePath = messagePath;
    this.#beat = setInterval(() => {
      for (const { response } of this.#open.values())
        if (response.writableLength === 0) response.write(": \n\n");
    }, BEAT_MS);
    this.#beat.unref();
  }

  listen({ response, principal }: Received): void {
    const host = this.#host;
    if (!host.ready) return refuse(response, 503, "MetaMCP is stopping");
    if (host.full("sessions")) return refuseFor(response, "sessions");
    if (this.#open.size >= MOST_SESSIONS) return refuse(response, 503, "there are too many sessions");
    const session = host.open((message) => {
      writeOrCut(response, Buffer.concat(encodeEvent(encode(message), undefined, "message")));
    }, principal);
    this.#open.set(session.id, { session, principal, response });
    response.once("close", () => {
      this.#open.delete(session.id);
      session.destroy(new MetaMcpError("cancelled", "the client closed its stream"));
      host.ended(session);
    });
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(`event: endpoint\ndata: ${this.#messagePath}?sessionId=${session.id}\n\n`);
  }

  take({ request, response, principal }: Received): void {
    const id = new URL(request.url ?? "/", "http://localhost").searchParams.get("sessionId") ?? "";
    const client = this.#open.get(id);
    if (!client || !samePrincipal(client.principal, principal)) return refuse(response, 404, NONE, -32001);
    readMessageOf(request, response, (message) => {
      // It may have ended while the message came.
      if (client.response.writableEnded) return refuse(response, 404, NONE, -32001);
      if (message.kind === "request" && this.#host.full("inFlight")) {
        this.#host.turnedAway(message, principal, client.session);
        return refuseFor(response, "requests");
      }
      client.session.receive(message, { trace: traceHeadersIn(request.headers) } satisfies Traced);
      response.writeHead(202).end("Accepted");
    });
  }

  /** Nothing of this principal goes on. */
  endOf(meant: Principal): void {
    for (const client of this.#open.values()) if (isMeant(meant, client.principal)) end(client, REVOKED);
  }

  /** False: there is no such session. */
  endSession(id: string): boolean {
    const client = this.#open.get(id);
    if (client) end(client, ENDED);
    return client !== undefined;
  }

  end(): void {
    clearInterval(this.#beat);
    for (const client of this.#open.values()) end(client, OVER);
  }
}

function end({ session, response }: Open, reason: MetaMcpError): void {
  session.dismiss(reason);
  response.end();
}
