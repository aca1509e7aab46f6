/** Responses that wait behind another on their socket. Node tells only the one in front that the socket is gone; this tells those behind it. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

export class PipelinedResponses {
  readonly #waiting = new WeakMap<Socket, Set<ServerResponse>>();

  /** Its "close" comes when the socket's does, also if its turn never came. */
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
        // Whoever has had the socket hears of it from there.
        if (response.socket) continue;
        response.destroy();
        response.emit("close");
      }
    });
    return waiting;
  }
}
