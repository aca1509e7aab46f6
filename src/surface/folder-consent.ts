/**
 * Asks the person at a client, on first use, to allow the servers of a config file found in the folder.
 * Nothing in it is listed or run before consent.
 */
import { callerOf } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Raw } from "../kernel/raw.ts";
import { askPerson, canBeAsked } from "../middleware/person.ts";
import type { ClientRequest, Surface } from "./surface.ts";
import type { AroundRequest } from "./wrapped-surface.ts";

export interface ConsentGate {
  readonly clock: Clock;
  readonly log: Log;
  /**
   * The question to ask; undefined if there is nothing to allow. The text is the same for the same file
   * content.
   */
  question(): string | undefined;
  /** Records the consent to this question. Resolves when it is in effect. */
  allow(question: string): Promise<void>;
}

/** A list waits at most this long for the answer. After a later consent the client gets `list_changed`. */
const LIST_WAIT_MS = 3_000;
const USE_METHODS: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** Shared by all sessions, so that each client is asked once. */
export class FolderConsent {
  readonly #gate: ConsentGate;
  #question: string | undefined;
  /** Keyed by client: settles when the client has answered the current question. */
  readonly #asked = new Map<string, Promise<void>>();
  /** Questions that were declined. No client is asked these again. */
  readonly #declined = new Set<string>();

  constructor(gate: ConsentGate) {
    this.#gate = gate;
  }

  /** `lists`: the surface lists the tools of children, so that tools/list counts as use. */
  around(lists: boolean): AroundRequest {
    return (request, answer) => this.#handle(request, answer, lists);
  }

  #handle(request: ClientRequest, answer: Surface["handle"], lists: boolean): Promise<Raw> {
    const question = this.#gate.question();
    if (question === undefined || this.#declined.has(question)) return answer(request);
    const { method, origin } = request;
    // The stateless era does not allow questions in a list request.
    const list = lists && !origin.era2026 && method === "tools/list";
    if (!(list || USE_METHODS.has(method)) || !canBeAsked(origin.capabilities)) return answer(request);
    const answered = this.#ask(question, request);
    const settled = list ? Promise.race([answered, this.#pause()]) : answered;
    return settled.then(() => answer(request));
  }

  #ask(question: string, request: ClientRequest): Promise<void> {
    // The file content changed, so earlier questions are obsolete.
    if (question !== this.#question) this.#asked.clear();
    this.#question = question;
    const caller = callerOf(request.origin);
    const asked = this.#asked.get(caller) ?? this.#askPerson(question, request);
    this.#asked.set(caller, asked);
    return asked;
  }

  /** Never rejects: a failure counts as no consent, and the status of each server says why. */
  async #askPerson(question: string, request: ClientRequest): Promise<void> {
    const { clock, log } = this.#gate;
    try {
      const action = await askPerson(request, question, clock);
      if (action === "accept") await this.#gate.allow(question);
      if (action === "decline") this.#declined.add(question);
    } catch (error) {
      // There was no answer, so the next use asks again.
      this.#asked.delete(callerOf(request.origin));
      log.warn(`the folder was not allowed: ${(error as Error).message}`);
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#gate.clock.after(LIST_WAIT_MS, resolve));
  }
}
