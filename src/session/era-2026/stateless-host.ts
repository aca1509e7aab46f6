/** Who serves requests of the stateless era (2026-07-28), as a transport sees it. */
import type { Principal } from "../../kernel/principal.ts";
import type { Message } from "../../rpc/message.ts";
import type { Headers } from "./headers.ts";
import type { ReplyOutlet } from "./pending-reply.ts";

export interface StatelessHost {
  serve(request: Message & { kind: "request" }, from: From): Served;
  /** A connection that was one client's own has ended. */
  left(session: string): void;
}

/** Where a request came from. */
export interface From {
  /** What one was asked, only the same may answer. */
  readonly principal: Principal;
  /** What is kept for the client is in no list. */
  readonly unlisted?: boolean;
  /** Of a connection that is one client's own; undefined where each request is a stranger's. */
  readonly session?: string;
  readonly headers?: Headers;
  readonly send: ReplyOutlet;
}

/** A request that is being served. */
export interface Served {
  /** The client is no longer interested. Nothing is sent after. */
  cancel(reason: string): void;
}
