/** Asks the person at a client to allow what a found config file would run, when the client first uses something. Shows and runs nothing of it before a yes. */
import { callerOf } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Raw } from "../kernel/raw.ts";
import { askPerson, canBeAsked } from "../middleware/person.ts";
import type { ClientRequest, Surface } from "./surface.ts";

export interface ConsentGate {
  readonly clock: Clock;
  readonly log: Log;
  /** What to ask now; undefined while nothing is held back. The same text for the same content. */
  question(): string | undefined;
  /** The person said yes to this very question. Resolves once that holds. */
  allow(question: string): Promise<void>;
}

/** A list is not held up for longer by a person who thinks; who agrees later gets the rest by `list_changed`. */
const LIST_PATIENCE_MS = 3_000;
const USES: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** One for all sessions, so that nobody is asked twice. */
export class FolderConsent {
  readonly #gate: ConsentGate;
  #question: string | undefined;
  /** By client: its answer to the question of the moment, or that it is awaited. */
  readonly #asked = new Map<string, Promise<void>>();
  /** Questions that were declined: no client is to ask again. */
  readonly #declined = new Set<string>();

  constructor(gate: ConsentGate) {
    this.#gate = gate;
  }

  /** `lists`: the surface lists tools of children, so that a list is a use. */
  around(surface: Surface, lists: boolean): Surface {
    return {
      capabilities: surface.capabilities,
      instructions: (asker) => surface.instructions(asker),
      handle: (request) => this.#handle(surface, request, lists),
      ...(surface.prepare && { prepare: async (origin) => await surface.prepare?.(origin) }),
      ...(surface.tool && { tool: (name, asker) => surface.tool?.(name, asker) }),
      ...(surface.lists && { lists: (asker) => surface.lists?.(asker) ?? {} }),
      ...(surface.learn && { learn: (origin) => surface.learn?.(origin) }),
      ...(surface.notified && { notified: (...about) => surface.notified?.(...about) }),
    };
  }

  #handle(surface: Surface, request: ClientRequest, lists: boolean): Promise<Raw> {
    const question = this.#gate.question();
    if (question === undefined || this.#declined.has(question)) return surface.handle(request);
    const { method, origin } = request;
    // The stateless era has no way to ask within a list.
    const list = lists && !origin.era2026 && method === "tools/list";
    if (!(list || USES.has(method)) || !canBeAsked(origin.capabilities)) return surface.handle(request);
    const answered = this.#ask(question, request);
    const settled = list ? Promise.race([answered, this.#pause()]) : answered;
    return settled.then(() => surface.handle(request));
  }

  #ask(question: string, request: ClientRequest): Promise<void> {
    // Of an earlier content nobody will be asked again.
    if (question !== this.#question) this.#asked.clear();
    this.#question = question;
    const caller = callerOf(request.origin);
    const asked = this.#asked.get(caller) ?? this.#put(question, request);
    this.#asked.set(caller, asked);
    return asked;
  }

  /** Whatever goes wrong means no yes; the reason then stands with each server. */
  async #put(question: string, request: ClientRequest): Promise<void> {
    const { clock, log } = this.#gate;
    try {
      const action = await askPerson(request, question, clock);
      if (action === "accept") await this.#gate.allow(question);
      if (action === "decline") this.#declined.add(question);
    } catch (error) {
      // Given up before there was an answer: the next use asks again.
      this.#asked.delete(callerOf(request.origin));
      log.warn(`the folder was not allowed: ${(error as Error).message}`);
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#gate.clock.after(LIST_PATIENCE_MS, resolve));
  }
}
