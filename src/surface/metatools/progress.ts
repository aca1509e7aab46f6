/** Sends progress to a client that asked for it. Values only increase, as the protocol requires. */
import type { Uplink } from "../../kernel/call.ts";
import { type Raw, scalarOf, toRaw } from "../../kernel/raw.ts";
import { joinObject, members } from "../../rpc/slice.ts";

const METHOD = "notifications/progress";
/** The first character of a string or number; other values are not valid tokens. */
const TOKEN_START = /["\d-]/;

interface Report {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export class Progress {
  readonly #uplink: Uplink;
  readonly #token: Raw | undefined;
  #last = Number.NEGATIVE_INFINITY;
  #forwarded = false;

  /** `meta` is the `_meta` of the request. Without a progress token in it, nothing is sent. */
  constructor(uplink: Uplink, meta: Raw | undefined) {
    this.#uplink = uplink;
    const [token] = meta ? members(meta, ["progressToken"]) : [];
    this.#token = token && TOKEN_START.test(token.toString("latin1", 0, 1)) ? token : undefined;
  }

  get wanted(): boolean {
    return this.#token !== undefined;
  }

  /** The child has reported progress itself. */
  get forwarded(): boolean {
    return this.#forwarded;
  }

  report(report: Report): void {
    if (!this.#token || report.progress <= this.#last) return;
    this.#last = report.progress;
    const entries = Object.entries(report).filter(([, value]) => value !== undefined);
    const params = joinObject([
      ["progressToken", this.#token],
      ...entries.map(([key, value]) => [key, toRaw(value)] as const),
    ]);
    this.#uplink.notify(METHOD, params);
  }

  /** Returns an uplink for one call. Progress of its child goes to `take`, everything else to the client. */
  uplink(take: (report: Report, params: Raw) => void): Uplink {
    const uplink = this.#uplink;
    if (!this.#token) return uplink;
    return {
      request: (...args) => uplink.request(...args),
      notify: (method, params) => {
        if (method === METHOD && params) take(reportIn(params), params);
        else uplink.notify(method, params);
      },
    };
  }

  /** Forwards progress as the child wrote it. */
  forward({ progress }: Report, params: Raw): void {
    this.#forwarded = true;
    if (progress <= this.#last) return;
    this.#last = progress;
    this.#uplink.notify(METHOD, params);
  }
}

function reportIn(params: Raw): Report {
  const [progress, total, message] = members(params, ["progress", "total", "message"]).map(scalarOf);
  return {
    progress: typeof progress === "number" ? progress : Number.NEGATIVE_INFINITY,
    ...(typeof total === "number" && { total }),
    ...(typeof message === "string" && { message }),
  };
}
