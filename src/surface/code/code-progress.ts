/** What a client hears of code that runs: what the code itself reports, else each call as it ends. Only forwards, as the protocol wants it. */
import type { Uplink } from "../../kernel/call.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject, member, members } from "../../rpc/slice.ts";
import type { OutCall, RunProgress } from "../../sandbox/executor.ts";

const METHOD = "notifications/progress";

interface Named {
  readonly server: string;
  readonly tool: string;
}

export class CodeProgress {
  readonly #uplink: Uplink;
  readonly #token: Raw | undefined;
  #last = 0;
  /** The code reports by itself: what we would say is noise. */
  #spoken = false;

  constructor(uplink: Uplink, meta: Raw | undefined) {
    this.#uplink = uplink;
    this.#token = meta && member(meta, "progressToken");
  }

  said({ done, total, message }: RunProgress): void {
    if (!this.#spoken) this.#last = Number.NEGATIVE_INFINITY;
    this.#spoken = true;
    if (done > this.#last) this.#send(done, total, message);
  }

  called({ server, tool }: Named): void {
    if (!this.#spoken) this.#send(this.#last + 1, undefined, `${server} ${tool} answered`);
  }

  /** The way back for all that is no progress. */
  wayBack(): Uplink {
    return this.#uplink;
  }

  /** Of a call: what its child reports would be no progress of the whole. */
  wayBackOf(uplink: Uplink, { server, tool, hold }: OutCall): Uplink {
    return {
      request(...asked) {
        const release = hold();
        return uplink.request(...asked).finally(release);
      },
      notify: (method, params) => {
        if (method !== METHOD || !params) uplink.notify(method, params);
        else if (!this.#spoken) this.#send(this.#last + 1, undefined, `${server} ${tool}${saidIn(params)}`);
      },
    };
  }

  #send(progress: number, total: number | undefined, message: string | undefined): void {
    this.#last = progress;
    if (!this.#token) return;
    const params = joinObject([
      ["progressToken", this.#token],
      ["progress", toRaw(progress)],
      ["total", total === undefined ? undefined : toRaw(total)],
      ["message", message === undefined ? undefined : toRaw(message)],
    ]);
    this.#uplink.notify(METHOD, params);
  }
}

function saidIn(params: Raw): string {
  const [progress, total, message] = members(params, ["progress", "total", "message"]).map(
    (raw) => raw && fromRaw(raw),
  );
  if (typeof message === "string") return `: ${message.slice(0, 200)}`;
  return typeof total === "number" ? `: ${String(progress)} of ${total}` : `: ${String(progress)}`;
}
