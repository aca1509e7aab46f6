/**
 * Sends the progress of running code to the client: what the code reports, else one step per call. Progress
 * only increases, as the protocol requires.
 */
import type { Uplink } from "../../kernel/call.ts";
import { type Raw, scalarOf, toRaw } from "../../kernel/raw.ts";
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
  /** The code reports progress itself, so steps per call are not sent. */
  #codeReports = false;

  constructor(uplink: Uplink, meta: Raw | undefined) {
    this.#uplink = uplink;
    this.#token = meta && member(meta, "progressToken");
  }

  reported({ done, total, message }: RunProgress): void {
    if (!this.#codeReports) this.#last = Number.NEGATIVE_INFINITY;
    this.#codeReports = true;
    if (done > this.#last) this.#send(done, total, message);
  }

  callEnded({ server, tool }: Named): void {
    if (!this.#codeReports) this.#send(this.#last + 1, undefined, `${server} ${tool} answered`);
  }

  /**
   * The uplink of one call. Progress of its child becomes a step of the whole; the time limit pauses while
   * the client is asked.
   */
  uplinkOf({ server, tool, hold }: OutCall): Uplink {
    const uplink = this.#uplink;
    return {
      request(...args) {
        const release = hold();
        return uplink.request(...args).finally(release);
      },
      notify: (method, params) => {
        if (method !== METHOD || !params) uplink.notify(method, params);
        else if (!this.#codeReports)
          this.#send(this.#last + 1, undefined, `${server} ${tool}${progressText(params)}`);
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

function progressText(params: Raw): string {
  const [progress, total, message] = members(params, ["progress", "total", "message"]).map(scalarOf);
  if (typeof message === "string") return `: ${message.slice(0, 200)}`;
  return typeof total === "number" ? `: ${String(progress)} of ${total}` : `: ${String(progress)}`;
}
