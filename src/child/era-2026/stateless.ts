/**
 * How a child of the stateless era (2026-07-28) is spoken to: every request says everything, a question of the child
 * is a result that is put to the caller and answered by asking again, and changes are told on a stream of their own.
 */
import type { Clock } from "../../kernel/clock.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { CallSignal, type Signal } from "../../kernel/signal.ts";
import { cannotAsk } from "../../rpc/era-2026/capability.ts";
import { HEADER_MISMATCH, META } from "../../rpc/era-2026/names.ts";
import { isTaskResult } from "../../rpc/era-2026/task-form.ts";
import type { Peer } from "../../rpc/peer.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { member, members, withMember } from "../../rpc/slice.ts";
import type { Claim } from "../claim.ts";
import { carry, type Dialect } from "../dialect.ts";
import type { Greeting } from "../handshake.ts";
import type { Link } from "../link.ts";
import { enclose, envelopeOf, levelIn } from "./envelope.ts";
import { followTask } from "./follow-task.ts";
import { Listening } from "./listening.ts";
import { answering, type ChildQuestions, readQuestions, withPageId } from "./question.ts";
import type { RequestHeaders } from "./request-headers.ts";
import { needsTasks, ownHop, plain } from "./result.ts";
import { learnTools } from "./tool-headers.ts";

/** One question after the other, for ever, is no conversation. */
const MOST_ROUNDS = 32;
const BREATH_MS = 200;
/** Nor is a list without an end a list. */
const MOST_PAGES = 1_000;

interface Enclosed {
  readonly method: string;
  readonly params: Raw;
}

export interface StatelessParts {
  readonly peer: Peer;
  readonly link: Link;
  readonly clock: Clock;
  /** Of the client on whose behalf the connection was opened. */
  readonly capabilities: Raw;
  warn(problem: string): void;
  /** Changes of this list may have been missed. */
  onListChanged(method: string): void;
}

export class Stateless implements Dialect {
  readonly #parts: StatelessParts;
  readonly #headers: RequestHeaders;
  readonly #own: Buffer;
  readonly #envelopes = new WeakMap<Raw, Buffer>();
  readonly #taskEnvelopes = new WeakMap<Raw, Buffer>();
  /** Callers who are being asked, and how to stop that. */
  readonly #asking = new Map<Claim, CallSignal>();
  readonly #watched = new Set<string>();
  #lists: Listening | undefined;
  #resources: Listening | undefined;
  #level: string | undefined;

  constructor(parts: StatelessParts, headers: RequestHeaders) {
    this.#parts = parts;
    this.#headers = headers;
    this.#own = envelopeOf(parts.capabilities);
  }

  async request(claim: Claim, method: string, params: Raw, signal: Signal): Promise<Raw> {
    const local = this.#local(method, params);
    if (local) return local;
    let tasks = claim.task?.wish !== undefined;
    let body = params;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const envelope = this.#envelope(claim.origin.capabilities, tasks);
      const enclosed = { method, params: enclose(body, envelope, this.#level) };
      const result = await this.#put(enclosed, () => carry(this.#parts.peer, claim, enclosed, signal)).catch(
        (error: unknown) => {
          if (tasks || method !== "tools/call" || !needsTasks(error)) throw error;
        },
      );
      // It runs this as a task or not at all, and did nothing yet.
      if (!result) {
        tasks = true;
        continue;
      }
      const questions = readQuestions(result);
      if (!questions) return await this.#resultOf(claim, { method, tasks }, result, signal);
      body = answering(params, await this.#answers(claim, questions, signal), questions.state);
    }
    throw RpcError.of(INTERNAL_ERROR, `the server asked ${MOST_ROUNDS} times and never answered`);
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
        return this.#put(asked, () => this.#send(asked, stopped));
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
      params: enclose(params, this.#own),
    };
    const result = await this.#put(asked, () => this.#send(asked, signal));
    const parts = this.#parts;
    // Elsewhere there are no headers to be wrong about.
    if (method !== "tools/list" || !parts.link.stateless) return result;
    const first = !params || member(params, "cursor") === undefined;
    return learnTools(result, this.#headers, first, (problem) => parts.warn(problem));
  }

  #send({ method, params }: Enclosed, signal: Signal | undefined): Promise<Raw> {
    return this.#parts.peer.request(method, params, signal ? { signal } : {});
  }

  /** Hears of changes that the child says it can tell of. */
  begin({ capabilities }: Greeting): void {
    const offered = fromRaw(capabilities) as Record<string, { listChanged?: unknown } | undefined>;
    const lists = ["tools", "prompts", "resources"].filter((list) => offered[list]?.listChanged === true);
    if (lists.length === 0) return;
    const filter = Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true]));
    this.#lists = this.#listening(filter, () => {
      for (const list of lists) this.#parts.onListChanged(`notifications/${list}/list_changed`);
    });
  }

  /** This era has no notifications of clients but one, which is not theirs to send. */
  notify(): void {}

  heard(method: string, params: Raw | undefined): { params: Raw | undefined } | undefined {
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

  /** What this era has no request for. */
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
    this.#resources = this.#watched.size > 0 ? this.#listening(filter, () => {}) : undefined;
    // Not before: nothing may be missed in between.
    before?.end();
  }

  #listening(notifications: object, onMissed: () => void): Listening {
    return new Listening(toRaw({ notifications }), {
      clock: this.#parts.clock,
      onMissed,
      listen: (filter, signal) =>
        this.#send({ method: "subscriptions/listen", params: enclose(filter, this.#own) }, signal),
    });
  }

  /** A refusal of the headers did nothing yet: with fresh knowledge of the tools it may go once more. */
  async #put({ method }: Enclosed, send: () => Promise<Raw>): Promise<Raw> {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.code !== HEADER_MISMATCH || method !== "tools/call") throw ownHop(error);
    }
    await this.#relearn();
    return await send().catch((error: unknown) => {
      throw error instanceof RpcError ? ownHop(error) : error;
    });
  }

  async #relearn(): Promise<void> {
    let cursor: Raw | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
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
    const asking = new CallSignal();
    const stop = (): void => asking.abort(signal.reason);
    signal.addEventListener("abort", stop);
    this.#asking.set(claim, asking);
    claim.timer?.pause();
    try {
      if (asked.length === 0) await this.#breathe(asking);
      return await Promise.all(
        asked.map(async ({ name, method, params }) => {
          const refusal = cannotAsk(claim.origin.capabilities, method, params);
          if (refusal) throw RpcError.of(INVALID_PARAMS, `${method}: ${refusal}`);
          const { answer } = (method === "roots/list" && claim.origin.roots?.known) || {};
          // It was asked when it came here, and says when they change.
          if (answer && "result" in answer) return [name, answer.result] as const;
          const question = claim.origin.era2026 ? params : withPageId(params);
          return [name, await claim.uplink.request(method, question, asking, { name })] as const;
        }),
      );
    } catch (error) {
      if (asking.aborted || !(error instanceof RpcError)) throw error;
      // The other questions need no answer any more.
      asking.abort(error);
      throw RpcError.of(INTERNAL_ERROR, `the server's question got no answer: ${error.message}`);
    } finally {
      signal.removeEventListener("abort", stop);
      this.#asking.delete(claim);
      claim.timer?.resume();
    }
  }

  /** It wants to be asked again and says no more: not at once. */
  #breathe(asking: Signal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#parts.clock.after(BREATH_MS, resolve);
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
