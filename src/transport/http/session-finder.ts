/**
 * Finds the session that a request names: here, or with the help of other replicas, which may answer the
 * request themselves.
 */
import type { ServerResponse } from "node:http";
import { shareOf } from "../../kernel/principal.ts";
import { encodeBatch } from "../../rpc/batch.ts";
import { encode } from "../../rpc/encode.ts";
import type { Malformed, Message } from "../../rpc/message.ts";
import { SESSION_MOVED } from "../end-reasons.ts";
import { isEra2026 } from "./era-2026.ts";
import { forwardedOf } from "./forwarded.ts";
import { fail, type Received, refuse, refuseTooMany } from "./http-server.ts";
import { type ContinuedSession, HttpSession, type TransportParts } from "./http-session.ts";
import { lostAnswer } from "./lost-answer.ts";
import type { Owners, StrayRequest } from "./owners.ts";
import type { SessionTable } from "./session-table.ts";

/** A request for a session, with what its body contains. */
export interface SessionRequest {
  readonly received: Received;
  readonly body?: Buffer;
  readonly message?: Message | readonly (Message | Malformed)[];
}

const RETRY_SECONDS = 2;

type RequestMessage = Message & { kind: "request" };

/** Requests that change nothing anywhere, so that another replica may be asked again. */
const HARMLESS = /^(ping|[^/]+(\/templates)?\/list|tasks\/(get|result))$/;

export class SessionFinder {
  readonly #parts: TransportParts;
  readonly #sessions: SessionTable;
  /** Requests for which it is not yet known who serves them. */
  waiting = 0;

  constructor(parts: TransportParts, sessions: SessionTable) {
    this.#parts = parts;
    this.#sessions = sessions;
  }

  /** Another replica may have the session that the request names. */
  isStray(received: Received): boolean {
    return (
      this.#parts.owners !== undefined &&
      received.request.headers["mcp-session-id"] !== undefined &&
      !this.#sessions.find(received)
    );
  }

  /** Serves a request with its session. Refuses it if the session is missing or unknown. */
  serve(asked: SessionRequest, serve: (client: HttpSession) => void): void {
    const { owners } = this.#parts;
    const { request, response } = asked.received;
    const client = this.#sessions.find(asked.received);
    const id = request.headers["mcp-session-id"];
    if (owners && !forwardedOf(request)) owners.counted();
    if (client && !owners?.uncertain && !owners?.leaving) serve(client);
    else if (typeof id !== "string")
      refuse(response, 400, "an Mcp-Session-Id header is required; initialize returns one");
    else if (!owners) refuseUnknown(response);
    else
      this.#settle(
        this.#atOwner(owners, this.#strayOf(asked, id), isNewWork(asked)).then((found) => {
          if (found && !response.destroyed) serve(found);
        }),
        response,
      );
  }

  #settle(served: Promise<void>, response: ServerResponse): void {
    this.waiting += 1;
    void served
      .catch(() => fail(response))
      .finally(() => {
        this.waiting -= 1;
      });
  }

  #strayOf({ received, body, message }: SessionRequest, id: string): StrayRequest {
    const messages = message === undefined ? [] : "kind" in message ? [message] : message;
    const requests = messages.filter((one): one is RequestMessage => one.kind === "request");
    const { host } = this.#parts;
    return {
      received,
      id,
      body,
      harmless: requests.every(({ method }) => HARMLESS.test(method)),
      lost: () => {
        const answers = requests.map((one) =>
          lostAnswer({ id: one.id, safe: host.repeat(one, received.principal) === "safe" }),
        );
        const [only] = answers;
        if (!only) return undefined;
        return Buffer.concat(message && "kind" in message ? encode(only) : encodeBatch(answers));
      },
    };
  }

  /**
   * Returns the session if it belongs to this process, or does so from now on. Otherwise the request is
   * answered.
   */
  async #atOwner(owners: Owners, stray: StrayRequest, newWork: boolean): Promise<HttpSession | undefined> {
    const { received, id } = stray;
    if (owners.uncertain && !(await owners.certain())) {
      received.response.setHeader("retry-after", RETRY_SECONDS);
      refuse(received.response, 503, "it is not known which replica has this session: try again later");
      return undefined;
    }
    const client = this.#sessions.find(received);
    if (client && !(owners.leaving && newWork)) return client;
    // Its running calls end here; what comes then goes on elsewhere.
    if (client) await this.#released(client);
    const found = await owners.find(stray);
    if (found === "answered") return undefined;
    if (found === "unknown") refuseUnknown(received.response);
    // Another request may have continued it meanwhile.
    else return await this.#continued({ ...found, publicId: id }, received);
    return undefined;
  }

  async #released(client: HttpSession): Promise<void> {
    const { clock } = this.#parts;
    while (client.session.serving > 0) await new Promise<void>((resolve) => void clock.after(10, resolve));
    this.#sessions.release(client, SESSION_MOVED);
  }

  /**
   * Has another replica serve a request without a session, because this one is about to stop. Returns false
   * if it must be served here.
   */
  handOver(asked: SessionRequest, serve: () => void): boolean {
    const { owners } = this.#parts;
    const { request, response } = asked.received;
    if (!owners?.leaving || forwardedOf(request)) return false;
    const passed = owners.handOver(this.#strayOf(asked, "")).then((answered) => {
      if (!answered && !response.destroyed) serve();
    });
    this.#settle(passed, response);
    return true;
  }

  /**
   * Has the replica answer that has what the request names, such as a task. Returns false if it must be
   * served here: nothing is named, this replica has it, or another one thinks so. If the replica is gone, the
   * request is served here, and gets told that.
   */
  passOn(asked: SessionRequest & { readonly message: Message }, serve: () => void): boolean {
    const { owners } = this.#parts;
    const { request, response } = asked.received;
    if (!owners || forwardedOf(request)) return false;
    const replica = this.#replicaOf(asked);
    if (replica === undefined || replica === owners.self) return false;
    owners.counted();
    const id = request.headers["mcp-session-id"];
    const passed = owners.passTo(replica, this.#strayOf(asked, String(id ?? ""))).then((answered) => {
      if (!answered && !response.destroyed) serve();
    });
    this.#settle(passed, response);
    return true;
  }

  /** The request is for something of its sender that is here, while its session is not. */
  isHere(asked: SessionRequest & { readonly message: Message }): boolean {
    const { owners } = this.#parts;
    const { request, principal } = asked.received;
    return (
      owners !== undefined &&
      this.isStray(asked.received) &&
      this.#replicaOf(asked) === owners.self &&
      owners.knows(String(request.headers["mcp-session-id"]), principal)
    );
  }

  #replicaOf({ message, received }: SessionRequest & { readonly message: Message }): string | undefined {
    if (message.kind !== "request") return undefined;
    const { host, stateless } = this.#parts;
    const { request, principal } = received;
    const era2026 = isEra2026(message, request.headers);
    const inSession = !era2026 && !stateless && request.headers["mcp-session-id"] !== undefined;
    return host.replicaOf(message, { principal, era2026, inSession });
  }

  /** A session that comes from another replica needs a place here. */
  async #continued(session: ContinuedSession, received: Received): Promise<HttpSession | undefined> {
    const { host } = this.#parts;
    await host.askFor?.("sessions");
    const known = this.#sessions.find(received);
    if (known || host.makeRoom(shareOf(received.principal)))
      return known ?? this.#continue(session, received);
    refuseTooMany(received.response, "sessions");
    return undefined;
  }

  #continue(session: ContinuedSession, received: Received): HttpSession {
    const { principal } = received;
    const client = new HttpSession(this.#parts, principal, shareOf(principal), session);
    this.#sessions.add(client);
    return client;
  }
}

/**
 * It is no part of what is under way in the session: no answer, no notification, and no stream that is
 * resumed.
 */
function isNewWork({ received: { request }, message }: SessionRequest): boolean {
  if (message === undefined)
    return request.method === "GET" && request.headers["last-event-id"] === undefined;
  return "kind" in message ? message.kind === "request" : message.some(({ kind }) => kind === "request");
}

function refuseUnknown(response: ServerResponse): void {
  refuse(response, 404, "unknown or expired session: initialize again", -32001);
}
