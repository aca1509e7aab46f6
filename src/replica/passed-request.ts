/**
 * A request that another replica passed on, as the HTTP server of Node would give it: with its body, and with
 * a response that goes back in frames.
 */
import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Writable } from "node:stream";
import type { FrameSocket } from "./frame-socket.ts";
import { FRAME } from "./frames.ts";
import { headersOf, type RequestHead } from "./request-head.ts";

/** What request and response take for their socket. */
export class AnswerStream extends Writable {
  readonly #socket: FrameSocket;
  readonly #request: number;
  #begun = false;
  #paused = false;
  #goOn: (() => void) | undefined;

  constructor(socket: FrameSocket, request: number) {
    super();
    this.#socket = socket;
    this.#request = request;
    this.on("error", () => {});
  }

  /**
   * The same object as a request from a client, not one of a class of its own: V8 makes code slower, for all
   * requests, that gets two kinds.
   */
  requestOf({ method, url, headers }: RequestHead, body: Buffer): IncomingMessage {
    const request = new IncomingMessage(this as unknown as Socket);
    request.httpVersionMajor = 1;
    request.httpVersionMinor = 1;
    request.httpVersion = "1.1";
    request.url = url;
    request.method = method;
    request.headers = headersOf(headers);
    request.rawHeaders = headers;
    if (body.length > 0) request.push(body);
    request.complete = true;
    request.push(null);
    return request;
  }

  /** A response to the request, written as HTTP/1.1 without chunks: frames say where the body ends. */
  responseTo(request: IncomingMessage): ServerResponse {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.useChunkedEncodingByDefault = false;
    response.sendDate = false;
    response.assignSocket(this as unknown as Socket);
    response.once("finish", () => this.end());
    this.on("drain", () => response.emit("drain"));
    return response;
  }

  /** Whether the client at the other end reads too slowly. */
  pause(paused: boolean): void {
    this.#paused = paused;
    this.goOn();
  }

  /** Writes on, if both ends of the connection allow it. */
  goOn(): void {
    if (this.#paused || this.#socket.full) return;
    const goOn = this.#goOn;
    this.#goOn = undefined;
    goOn?.();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#send([chunk], done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#send(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  override _final(done: () => void): void {
    this.#socket.send(FRAME.end, this.#request);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished) this.#socket.send(FRAME.abort, this.#request);
    done(error);
  }

  #send(content: Buffer[], done: () => void): void {
    this.#socket.send(this.#begun ? FRAME.data : FRAME.answer, this.#request, content);
    this.#begun = true;
    this.#goOn = done;
    this.goOn();
  }
}
