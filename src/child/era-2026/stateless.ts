/**
 * How to speak to a child of the stateless era (2026-07-28). Every request carries the whole context. A
 * question of the child comes as a result: the caller is asked, and the request is sent again with the
 * answer. Changes come on a separate stream.
 */
import type { Clock } from "../../kernel/clock.ts";
import { asRaw, EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { CallSignal, type Signal } from "../../kernel/signal.ts";
import { cannotAsk } from "../../rpc/era-2026/capability.ts";
import { HEADER_MISMATCH, META } from "../../rpc/era-2026/names.ts";
import { type ParamHeader, paramHeaders } from "../../rpc/era-2026/param-headers.ts";
import { isTaskResult } from "../../rpc/era-2026/task-form.ts";
import type { Peer } from "../../rpc/peer.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { elements, member, members, withMember } from "../../rpc/slice.ts";
import type { Claim } from "../claim.ts";
import { type Dialect, sendCall } from "../dialect.ts";
import type { HandshakeResult } from "../handshake.ts";
import type { Link } from "../link.ts";
import { enclose, envelopeOf, levelIn } from "./envelope.ts";
import { followTask } from "./follow-task.ts";
import { ListenStream } from "./listen-stream.ts";
import { answering, type ChildQuestions, readQuestions, withPageId } from "./question.ts";
import type { RequestHeaders } from "./request-headers.ts";
import { needsTasks, plain, withoutHopErrors } from "./result.ts";

/** How often a child may answer one call with questions. */
const MAX_ROUNDS = 32;
/** How many questions it may ask at once. */
const MAX_QUESTIONS = 64;
/** The wait before a request is sent again without answers. */
const RESEND_MS = 200;
const MAX_PAGES = 1_000;

interface EraRequest {
  readonly method: string;
  readonly params: Raw;
}

export interface StatelessParts {
  readonly peer: Peer;
  readonly link: Link;
  readonly clock: Clock;
  /** Of the client for which the connection was opened. */
  readonly capabilities: Raw;
  warn(problem: string): void;
  /** The list changed, or a change may have been missed. */
  onListChanged(method: string): void;
}

export class Stateless implements Dialect {
  readonly #parts: StatelessParts;
  readonly #headers: RequestHeaders;
  /** The envelope of our own requests. */
  readonly #ownEnvelope: Buffer;
  readonly #envelopes = new WeakMap<Raw, Buffer>();
  readonly #taskEnvelopes = new WeakMap<Raw, Buffer>();
  /** Calls whose clients are being asked, and the signal that stops the question. */
  readonly #asking = new Map<Claim, CallSignal>();
  readonly #watched = new Set<string>();
  #lists: ListenStream | undefined;
  #resources: ListenStream | undefined;
  #level: string | undefined;

  constructor(parts: StatelessParts, headers: RequestHeaders) {
    this.#parts = parts;
    this.#headers = headers;
    this.#ownEnvelope = envelopeOf(parts.capabilities);
  }

  async request(claim: Claim, method: string, params: Raw, signal: Signal): Promise<Raw> {
    const local = this.#local(method, params);
    if (local) return local;
    let tasks = claim.task?.request !== undefined;
    let body = params;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const envelope = this.#envelope(claim.origin.capabilities, tasks);
      const enclosed = { method, params: enclose(body, envelope, this.#level) };
      const result = await this.#withRetry(enclosed, () =>
        sendCall(this.#parts.peer, claim, enclosed, signal),
      ).catch((error: unknown) => {
        if (tasks || method !== "tools/call" || !needsTasks(error)) throw error;
      });
      // The child runs the tool only as a task and has not done anything yet: ask again for a task.
      if (!result) {
        tasks = true;
        continue;
      }
      const questions = readQuestions(result);
      if (!questions) return await this.#resultOf(claim, { method, tasks }, result, signal);
      claim.begun = true;
      body = answering(params, await this.#answers(claim, questions, signal), questions.state);
    }
    throw RpcError.of(INTERNAL_ERROR, `the server asked ${MAX_ROUNDS} times and never answered`);
  }

  async #resultOf(
    claim: Claim,
    { method, tasks }: { readonly method: string; readonly tasks: boolean },
    answer: Raw,
    signal: Signal,
  ): Promise<Raw> {
    const result = tasks && isTaskResult(answer) ? await this.#follow(claim, answer, signal) : answer;
    return claim.origin.era2026 ? result : plain(result, method);
  }

  #follow(claim: Claim, created: Raw, signal: Signal): Promise<Raw> {
    const envelope = this.#envelope(claim.origin.capabilities, true);
    const parts = {
      clock: this.#parts.clock,
      claim,
      signal,
      ask: (method: string, params: Raw, stopped?: Signal) => {
        const asked = { method, params: enclose(params, envelope) };
        return this.#withRetry(asked, () => this.#send(asked, stopped));
      },
      answers: (questions: ChildQuestions, stopped: Signal) => this.#answers(claim, questions, stopped),
    };
    return followTask(parts, created);
  }

  async ask(method: string, params: Raw | undefined, signal?: Signal): Promise<Raw> {
    const local = this.#local(method, params);
    if (local) return local;
    const asked = {
      method: method === "ping" ? "server/discover" : method,
      params: enclose(params, this.#ownEnvelope),
    };
    const result = await this.#withRetry(asked, () => this.#send(asked, signal));
    const parts = this.#parts;
    // Links without headers need no header rules of tools.
    if (method !== "tools/list" || !parts.link.stateless) return result;
    const first = !params || member(params, "cursor") === undefined;
    return rememberToolHeaders(result, this.#headers, first, (problem) => parts.warn(problem));
  }

  #send({ method, params }: EraRequest, signal: Signal | undefined): Promise<Raw> {
    return this.#parts.peer.request(method, params, signal ? { signal } : {});
  }

  /** Listens to the list changes that the child declares. */
  begin({ capabilities }: HandshakeResult): void {
    const offered = fromRaw(capabilities) as Record<string, { listChanged?: unknown } | undefined>;
    const lists = ["tools", "prompts", "resources"].filter((list) => offered[list]?.listChanged === true);
    if (lists.length === 0) return;
    const filter = Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true]));
    this.#lists = this.#listen(filter, () => {
      for (const list of lists) this.#parts.onListChanged(`notifications/${list}/list_changed`);
    });
  }

  /**
   * Notifications of clients do not exist in this era, apart from cancellation, which MetaMCP sends itself.
   */
  notify(): void {}

  forClients(method: string, params: Raw | undefined): { params: Raw | undefined } | undefined {
    if (method === "notifications/subscriptions/acknowledged") return undefined;
    const [meta] = params ? members(params, ["_meta"]) : [];
    if (!params || !meta || !member(meta, META.subscription)) return { params };
    return { params: withMember(params, "_meta", withMember(meta, META.subscription, undefined)) };
  }

  cancel(claim: Claim, error: Error): void {
    if (claim.id !== undefined) this.#parts.peer.cancel(claim.id, error);
    this.#asking.get(claim)?.abort(error);
  }

  end(reason: Error): void {
    this.#lists?.end();
    this.#resources?.end();
    for (const asking of this.#asking.values()) asking.abort(reason);
  }

  /** Handles requests that this era does not have. Returns undefined for all others. */
  #local(method: string, params: Raw | undefined): Raw | undefined {
    if (method === "logging/setLevel") this.#level = levelIn(params);
    else if (method === "resources/subscribe") this.#watch(params, true);
    else if (method === "resources/unsubscribe") this.#watch(params, false);
    else return undefined;
    return EMPTY_OBJECT;
  }

  #watch(params: Raw | undefined, wanted: boolean): void {
    const [raw] = params ? members(params, ["uri"]) : [];
    const uri = raw && fromRaw(raw);
    if (typeof uri !== "string") return;
    if (wanted) this.#watched.add(uri);
    else this.#watched.delete(uri);
    const before = this.#resources;
    const filter = { resourceSubscriptions: [...this.#watched] };
    this.#resources = this.#watched.size > 0 ? this.#listen(filter, () => {}) : undefined;
    // Ended after the new stream is open, so that no update is missed in between.
    before?.end();
  }

  #listen(notifications: object, onMissed: () => void): ListenStream {
    return new ListenStream(toRaw({ notifications }), {
      clock: this.#parts.clock,
      onMissed,
      listen: (filter, signal) =>
        this.#send({ method: "subscriptions/listen", params: enclose(filter, this.#ownEnvelope) }, signal),
    });
  }

  /**
   * A call refused because of its headers has not run yet. The tools are listed again, and the call is sent
   * once more.
   */
  async #withRetry({ method }: EraRequest, send: () => Promise<Raw>): Promise<Raw> {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.code !== HEADER_MISMATCH || method !== "tools/call") throw withoutHopErrors(error);
    }
    await this.#listToolsAgain();
    return await send().catch((error: unknown) => {
      throw error instanceof RpcError ? withoutHopErrors(error) : error;
    });
  }

  async #listToolsAgain(): Promise<void> {
    let cursor: Raw | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const params: Raw | undefined = cursor && withMember(EMPTY_OBJECT, "cursor", cursor);
      cursor = members(await this.ask("tools/list", params), ["nextCursor"])[0];
      if (!cursor || cursor.toString() === "null") return;
    }
  }

  async #answers(
    claim: Claim,
    { asked }: ChildQuestions,
    signal: Signal,
  ): Promise<readonly (readonly [string, Raw])[]> {
    if (asked.length > MAX_QUESTIONS)
      throw RpcError.of(INTERNAL_ERROR, `the server asked ${asked.length} questions at once`);
    const asking = new CallSignal();
    const cancel = (): void => asking.abort(signal.reason);
    signal.addEventListener("abort", cancel);
    this.#asking.set(claim, asking);
    claim.timer?.pause();
    try {
      if (asked.length === 0) await this.#waitToResend(asking);
      return await Promise.all(
        asked.map(async ({ name, method, params }) => {
          const refusal = cannotAsk(claim.origin.capabilities, method, params);
          if (refusal) throw RpcError.of(INVALID_PARAMS, `${method}: ${refusal}`);
          const { answer } = (method === "roots/list" && claim.origin.roots?.known) || {};
          // The roots are already known, and the client reports changes of them.
          if (answer && "result" in answer) return [name, answer.result] as const;
          const question = claim.origin.era2026 ? params : withPageId(params);
          return [name, await claim.uplink.request(method, question, asking, { name })] as const;
        }),
      );
    } catch (error) {
      if (asking.aborted || !(error instanceof RpcError)) throw error;
      // The other questions no longer need an answer.
      asking.abort(error);
      throw RpcError.of(INTERNAL_ERROR, `the server's question got no answer: ${error.message}`);
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#asking.delete(claim);
      claim.timer?.resume();
    }
  }

  /** A child may want the request again without asking anything. It does not get it at once. */
  #waitToResend(asking: Signal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#parts.clock.after(RESEND_MS, resolve);
      asking.addEventListener("abort", () => {
        timer.cancel();
        reject(asking.reason as Error);
      });
    });
  }

  #envelope(capabilities: Raw, tasks: boolean): Buffer {
    const envelopes = tasks ? this.#taskEnvelopes : this.#envelopes;
    let envelope = envelopes.get(capabilities);
    if (!envelope) {
      envelope = envelopeOf(capabilities, tasks);
      envelopes.set(capabilities, envelope);
    }
    return envelope;
  }
}

/** `first`: this is the first page, so the headers of earlier lists are forgotten. */
function rememberToolHeaders(
  result: Raw,
  headers: RequestHeaders,
  first: boolean,
  report: (problem: string) => void,
): Raw {
  if (first) headers.forget();
  if (!result.includes("x-mcp-header")) return result;
  const tools = member(result, "tools");
  const all = tools ? elements(tools) : [];
  const kept = all.filter((tool) => {
    const found = paramHeaders(tool);
    const name = String(nameOf(tool));
    if ("problem" in found) report(`its tool ${name} is skipped: ${found.problem}`);
    else if (found.length > 0) headers.remember(name, found as readonly ParamHeader[]);
    return !("problem" in found);
  });
  return kept.length === all.length ? result : withMember(result, "tools", list(kept));
}

function nameOf(tool: Raw): unknown {
  const name = member(tool, "name");
  return name && fromRaw(name);
}

function list(tools: readonly Raw[]): Raw {
  return asRaw(Buffer.from(`[${tools.map(String).join(",")}]`));
}
