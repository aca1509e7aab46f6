/**
 * One call from "Try it": calls a tool as a client of the endpoint, and reports each event to the console.
 */
import type {
  RunningTry,
  TriedRequest,
  TryAnswer,
  TryEnding,
  TryError,
  TryEvent,
} from "../../gateway/try-control.ts";
import type { Events } from "../../kernel/events.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { IMPLEMENTATION } from "../../kernel/version.ts";
import { errorOf } from "../../rpc/rpc-error.ts";
import type { LocalClient, LocalClientParts } from "../../transport/local/local-client.ts";
import { ASKABLE, TryQuestions } from "./questions.ts";

export interface TryRunParts {
  readonly id: string;
  connect(parts: LocalClientParts): LocalClient;
  /** Returns the request to send after the handshake. */
  requestOf(client: LocalClient): Promise<TriedRequest>;
  readonly events: Pick<Events, "on">;
  /** Called when the run has ended for any reason. */
  onEnd(run: TryRun): void;
}

const ABOUT = { ...IMPLEMENTATION, name: "metamcp-console" };
/** Any value works: the client has only one request in flight. */
const TOKEN = 1;

export class TryRun implements RunningTry {
  readonly id: string;
  readonly client: LocalClient;
  readonly #parts: TryRunParts;
  readonly #questions: TryQuestions;
  readonly #calls: number[] = [];
  readonly #stopCounting: () => void;
  #report: (event: TryEvent) => void = () => {};
  #over = false;

  constructor(parts: TryRunParts) {
    this.id = parts.id;
    this.#parts = parts;
    this.#questions = new TryQuestions({
      asked: (question) => this.#report({ type: "question", question }),
      withdrawn: (id) => this.#report({ type: "withdrawn", id }),
    });
    this.client = parts.connect({
      about: ABOUT,
      capabilities: ASKABLE,
      onRequest: (request) => this.#questions.ask(request),
      onNotification: (method, params = EMPTY_OBJECT) => {
        if (method === "notifications/message") this.#report({ ...membersOf(params), type: "log" });
      },
    });
    const { id: session } = this.client.session;
    this.#stopCounting = parts.events.on((event) => {
      if (event.type === "call.ended" && event.origin.session === session) this.#calls.push(event.id);
    });
  }

  run(report: (event: TryEvent) => void): void {
    this.#report = (event) => {
      if (!this.#over) report(event);
    };
    void this.#called().then((ending) => {
      this.#report(ending);
      this.end();
    });
  }

  answer(answer: TryAnswer): boolean {
    return this.#questions.answer(answer);
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopCounting();
    this.#parts.onEnd(this);
  }

  async #called(): Promise<TryEnding> {
    try {
      await this.client.begin();
      const request = await this.#parts.requestOf(this.client);
      this.#report({ type: "begun", id: this.id, request });
      const result = await this.client.request(request.method, withToken(request), {
        onProgress: (params) => this.#report({ ...progressIn(params), type: "progress" }),
      });
      return { type: "result", result: membersOf(result), calls: this.#calls };
    } catch (error) {
      return { type: "error", error: fromRaw(errorOf(error)) as TryError, calls: this.#calls };
    }
  }
}

function withToken({ params }: TriedRequest): Raw {
  return toRaw({ ...params, _meta: { progressToken: TOKEN } });
}

function progressIn(params: Raw): object {
  const { progressToken: _, ...told } = membersOf(params);
  return told;
}

function membersOf(written: Raw): Readonly<Record<string, unknown>> {
  return fromRaw(written) as Readonly<Record<string, unknown>>;
}
