/** Progress towards the client that asked for it: only forwards, as the protocol wants it. */
import type { Uplink } from "../../kernel/call.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject, members } from "../../rpc/slice.ts";

const METHOD = "notifications/progress";
/** How a text or a number begins; nothing else is a token. */
const TOKEN = /["\d-]/;

interface Report {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export class Progress {
  readonly #uplink: Uplink;
  readonly #token: Raw | undefined;
  #last = Number.NEGATIVE_INFINITY;
  #heard = false;

  /** `meta` of the request: without a token in it nobody wants to know. */
  constructor(uplink: Uplink, meta: Raw | undefined) {
    this.#uplink = uplink;
    const [token] = meta ? members(meta, ["progressToken"]) : [];
    this.#token = token && TOKEN.test(token.toString("latin1", 0, 1)) ? token : undefined;
  }

  get wanted(): boolean {
    return this.#token !== undefined;
  }

  /** The child reported itself. */
  get heard(): boolean {
    return this.#heard;
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

  /** The way back for one call: what its child reports goes through `take`, all else as it is. */
  wayBack(take: (report: Report, params: Raw) => void): Uplink {
    const uplink = this.#uplink;
    if (!this.#token) return uplink;
    return {
      request: (...asked) => uplink.request(...asked),
      notify: (method, params) => {
        if (method === METHOD && params) take(reportIn(params), params);
        else uplink.notify(method, params);
      },
    };
  }

  /** As the child wrote it. */
  pass({ progress }: Report, params: Raw): void {
    this.#heard = true;
    if (progress <= this.#last) return;
    this.#last = progress;
    this.#uplink.notify(METHOD, params);
  }
}

function reportIn(params: Raw): Report {
  const [progress, total, message] = members(params, ["progress", "total", "message"]).map(
    (raw) => raw && fromRaw(raw),
  );
  return {
    progress: typeof progress === "number" ? progress : Number.NEGATIVE_INFINITY,
    ...(typeof total === "number" && { total }),
    ...(typeof message === "string" && { message }),
  };
}
