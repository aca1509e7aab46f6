/**
 * A link to a server that another replica runs. That replica is reached as any remote server, over the
 * channel between replicas, and says in its errors what became of the server.
 */

import type { RemoteSpec, ServerSpec } from "../../config/spec.ts";
import { fromRaw } from "../../kernel/raw.ts";
import { secretsFrom } from "../../kernel/secret.ts";
import { ownId } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import { member } from "../../rpc/slice.ts";
import { mayInstall } from "../download.ts";
import type { HttpLinkOptions } from "../http/http-channel.ts";
import { HttpClient } from "../http/http-client.ts";
import { StreamableLink } from "../http/streamable-link.ts";
import { type Category, ChildFailure, type Link, type LinkEvents } from "../link.ts";
import { PLACED_CREDENTIAL, PLACED_FAILURE, type PlacedLink, type PlaceElsewhere } from "./placement.ts";

/** What a replica says about a request that failed there. */
export interface PlacedFailure {
  readonly category: Category;
  readonly message: string;
  readonly unsent?: boolean;
  readonly needsFix?: boolean;
  /** It does not run the server any more. */
  readonly sessionLost?: boolean;
}

export class RemoteLink implements Link, PlacedLink {
  readonly peer: string;
  readonly #spec: ServerSpec;
  readonly #events: LinkEvents;
  readonly #link: StreamableLink;
  readonly #leave: () => void;
  #ready = false;
  #ended = false;
  #closing: Promise<void> | undefined;

  constructor(spec: ServerSpec, events: LinkEvents, place: PlaceElsewhere, options: HttpLinkOptions) {
    this.#spec = spec;
    this.#events = events;
    this.peer = `replica ${place.replica}`;
    const http = new HttpClient(throughReplica(spec, place), undefined, place.agent);
    this.#link = new StreamableLink(
      http,
      {
        onMessage: (message, via) => {
          const failed = failureIn(message);
          if (this.#ended) return;
          if (failed) events.onFailed(failed.id, failed.failure);
          else events.onMessage(message, via);
        },
        onFailed: (id, failure) => this.#failed(id, failure),
        onClosed: (failure) => this.#end(this.#named(failure)),
      },
      options,
    );
    this.#leave = place.join(this);
  }

  send(message: Message): void {
    if (!this.#ended) this.#link.send(message);
  }

  agreed(protocolVersion: string): void {
    this.#ready = true;
    this.#link.agreed(protocolVersion);
  }

  /** Until the handshake the other replica may have to install the server. */
  installing(): boolean {
    return !this.#ready && mayInstall(this.#spec);
  }

  lastWords(): undefined {
    return undefined;
  }

  moved(): void {
    if (!this.#ended) this.#events.onMoved?.();
  }

  lost(reason: string): Promise<void> {
    this.#end(new ChildFailure("offline", reason));
    return this.close();
  }

  close(): Promise<void> {
    this.#ended = true;
    this.#closing ??= this.#link.close().finally(this.#leave);
    return this.#closing;
  }

  /**
   * If one connection to a replica breaks, it has probably died. The others may not show that yet, and a
   * request on them would be lost without anybody knowing whether it ran. The next link asks first.
   */
  #failed(id: number, failure: ChildFailure): void {
    if (this.#ended) return;
    this.#events.onFailed(id, this.#named(failure));
    if (failure.category === "offline") this.moved();
  }

  #end(failure: ChildFailure): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#events.onClosed(failure);
  }

  /** The address of a replica is nothing that callers know or can check. */
  #named({ category, unsent, sessionLost, cause }: ChildFailure): ChildFailure {
    const text = `the connection to ${this.peer}, which runs it, failed`;
    return new ChildFailure(category, text, { unsent, sessionLost, cause });
  }
}

function throughReplica(spec: ServerSpec, { url, headers }: PlaceElsewhere): RemoteSpec {
  const own: Record<string, string> =
    spec.credential === undefined ? {} : { [PLACED_CREDENTIAL]: spec.credential };
  return { ...spec, kind: "http", url, headers: secretsFrom({ ...headers, ...own }), oauth: undefined };
}

function failureIn(message: Message): { readonly id: number; readonly failure: ChildFailure } | undefined {
  if (message.kind !== "error" || !message.id) return undefined;
  const data = member(message.error, "data");
  const said = data && member(data, PLACED_FAILURE);
  if (!said) return undefined;
  const { category, message: text, ...more } = fromRaw(said) as PlacedFailure;
  return { id: ownId(message.id), failure: new ChildFailure(category, text, more) };
}
