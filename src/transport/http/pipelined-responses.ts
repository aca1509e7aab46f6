/**
 * Tracks responses that wait behind another on the same socket (HTTP pipelining). When the socket closes, Node emits
 * "close" only for the first response; this class emits it for those behind it.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

export class PipelinedResponses {
  readonly #waiting = new WeakMap<Socket, Set<ServerResponse>>();

  /** The response emits "close" when its socket closes, even if it never got the socket. */
  add(response: ServerResponse, socket: Socket): void {
    const waiting = this.#waiting.get(socket) ?? this.#begin(socket);
    waiting.add(response);
    response.once("close", () => waiting.delete(response));
  }

  #begin(socket: Socket): Set<ServerResponse> {
    const waiting = new Set<ServerResponse>();
    this.#waiting.set(socket, waiting);
    socket.once("close", () => {
      for (const response of waiting) {
        // Node emits "close" itself for a response that has the socket.
        if (response.socket) continue;
        response.destroy();
        response.emit("close");
      }
    });
    return waiting;
  }
}
