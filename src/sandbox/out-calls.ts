/**
 * The tool calls of one run: enforces their limits, answers each one, and records them. Does not decide
 * whether a call is allowed.
 */
import type { Clock } from "../kernel/clock.ts";
import { CallSignal } from "../kernel/signal.ts";
import type { CallRecord, CodeRun, LimitName, OutCall } from "./executor.ts";
import { LONGEST_LINE, LONGEST_MESSAGE, type RunFrame, writeRefusal, writeResult } from "./frames.ts";
import { isJson, oneLine } from "./json-line.ts";

export interface OutCallsParts {
  /** Id of the run. */
  readonly id: number;
  readonly run: Pick<CodeRun, "call" | "limits">;
  readonly clock: Clock;
  readonly hold: OutCall["hold"];
  /** Sends a frame to the host. */
  readonly write: (text: string) => void;
}

interface MadeCall {
  readonly server: string;
  readonly tool: string;
  readonly began: number;
  ms?: number;
  error?: string;
}

const IS_ERROR = /"isError"\s*:\s*true/;
const ENDED = "the code that made this call has ended";

export class OutCalls {
  readonly #parts: OutCallsParts;
  readonly #made: MadeCall[] = [];
  readonly #inFlight = new Map<number, CallSignal>();

  constructor(parts: OutCallsParts) {
    this.#parts = parts;
  }

  /**
   * Starts a call. False if it exceeds a limit that the host should have enforced; then nothing is started.
   */
  take({ callId, server, tool, args }: Extract<RunFrame, { type: "call" }>): boolean {
    const { calls, callsInFlight, argsBytes } = this.#parts.run.limits;
    const fits =
      this.#made.length < calls && this.#inFlight.size < callsInFlight && !this.#inFlight.has(callId);
    if (!fits || Buffer.byteLength(args) > argsBytes) return false;
    const made: MadeCall = { server, tool, began: this.#parts.clock.now() };
    this.#made.push(made);
    const signal = new CallSignal();
    this.#inFlight.set(callId, signal);
    void this.#answer(callId, made, args, signal);
    return true;
  }

  /** Aborts the calls in flight and returns the records of all calls. */
  end(now: number): readonly CallRecord[] {
    for (const signal of this.#inFlight.values()) signal.abort(new Error(ENDED));
    this.#inFlight.clear();
    return this.#made.map((made) => recordOf(made, now));
  }

  async #answer(callId: number, made: MadeCall, args: string, signal: CallSignal): Promise<void> {
    const { id, clock, write } = this.#parts;
    let text: string;
    try {
      const result = await this.#result(made, args, signal);
      if (isFailed(result)) made.error = "execution_failed";
      text = writeResult(id, callId, result);
    } catch (error) {
      const { message, code, limit } = error as Error & { code?: unknown; limit?: LimitName };
      made.error = typeof code === "string" ? code : "execution_failed";
      text = writeRefusal(id, callId, {
        name: "ToolError",
        message: String(message).slice(0, LONGEST_MESSAGE),
        code: made.error,
        limit,
      });
    }
    made.ms = clock.now() - made.began;
    if (this.#inFlight.delete(callId)) write(text);
  }

  async #result({ server, tool }: MadeCall, args: string, signal: CallSignal): Promise<string> {
    const { run, hold } = this.#parts;
    if (!isJsonObject(args)) throw refusal("validation_input", "The arguments of a tool must be an object.");
    const value = oneLine(await run.call({ server, tool, args: oneLine(args), signal, hold }));
    const { resultBytes } = run.limits;
    if (Buffer.byteLength(value) > Math.min(resultBytes, LONGEST_LINE - 1_024)) {
      const message = `The result of ${server}:${tool} has more than ${resultBytes} bytes.`;
      throw Object.assign(refusal("result_too_large", message), { limit: "resultBytes" });
    }
    return value;
  }
}

function refusal(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function recordOf({ server, tool, began, ms, error }: MadeCall, now: number): CallRecord {
  const failed = ms === undefined ? "cancelled" : error;
  return {
    server,
    tool,
    ms: Math.round((ms ?? now - began) * 10) / 10,
    ...(failed !== undefined && { error: failed }),
  };
}

/** A tool that failed still returns a result. Only one that may be marked as failed is parsed. */
function isFailed(result: string): boolean {
  if (!IS_ERROR.test(result)) return false;
  try {
    return (JSON.parse(result) as { isError?: unknown }).isError === true;
  } catch {
    return false;
  }
}

function isJsonObject(text: string): boolean {
  return /^\s*\{/.test(text) && isJson(text);
}
