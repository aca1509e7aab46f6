/** One HTTP request of a call, from sending it to the whole body of its response. */
import type { IncomingMessage } from "node:http";
import { networkFailure } from "../http/failure.ts";
import type { HttpClient, HttpRequest } from "../http/http-client.ts";
import { ChildFailure } from "../link.ts";
import type { Response } from "./answer.ts";
import { readDecoded, Undecodable } from "./decoded-body.ts";
import type { ApiRequest } from "./request.ts";

export interface ApiCallParts {
  readonly http: HttpClient;
  readonly request: ApiRequest;
  readonly maxBytes: number;
  readonly onProgress: ((bytes: number, total: number | undefined) => void) | undefined;
}

export interface ApiCallEvents {
  onResponse(response: Response | "too-large"): void;
  onFailure(failure: ChildFailure): void;
}

/** Progress is reported whenever so many bytes more have come. */
const STEP_BYTES = 1024 * 1024;

export class ApiCall {
  readonly #parts: ApiCallParts;
  #sent: HttpRequest | undefined;

  constructor(parts: ApiCallParts) {
    this.#parts = parts;
  }

  get connected(): boolean {
    return this.#sent?.connected ?? false;
  }

  run(events: ApiCallEvents): void {
    const { http, request } = this.#parts;
    const { method, url, headers, body } = request;
    this.#sent = http.request(
      { method, url, headers: withLength(method, headers, body?.bytes), ...(body && { body: body.bytes }) },
      {
        onFailure: (failure) => events.onFailure(failure),
        onResponse: (response) => this.#read(response, events),
      },
    );
  }

  /** No event comes afterwards. */
  abort(): void {
    this.#sent?.abort();
  }

  #read(response: IncomingMessage, events: ApiCallEvents): void {
    const { http, request, maxBytes, onProgress } = this.#parts;
    const { statusCode: status = 0, statusMessage: reason = "", headers } = response;
    if (request.method === "HEAD") {
      response.resume();
      events.onResponse({ status, reason, headers, body: Buffer.alloc(0) });
      return;
    }
    if (onProgress) reportProgress(response, onProgress);
    readDecoded(response, maxBytes, (body) => {
      if (this.#sent?.aborted) return;
      if (body === "too-large") events.onResponse(body);
      else if (body instanceof Undecodable)
        events.onFailure(new ChildFailure("other", `an answer of ${http.shown} ${body.message}`));
      else if (body instanceof Error) events.onFailure(networkFailure(body, http.shown, true));
      else events.onResponse({ status, reason, headers, body });
    });
  }
}

/** Without a body some servers want to be told so. */
function withLength(method: string, headers: ApiRequest["headers"], body: readonly Buffer[] | undefined) {
  const needsLength = !body && (method === "POST" || method === "PUT" || method === "PATCH");
  return needsLength ? { ...headers, "content-length": 0 } : headers;
}

function reportProgress(response: IncomingMessage, report: NonNullable<ApiCallParts["onProgress"]>): void {
  const length = Number(response.headers["content-length"]);
  const total = Number.isSafeInteger(length) && length > 0 ? length : undefined;
  let [bytes, next] = [0, STEP_BYTES];
  response.on("data", (part: Buffer) => {
    bytes += part.length;
    if (bytes < next) return;
    next = bytes + STEP_BYTES;
    report(bytes, total);
  });
}
