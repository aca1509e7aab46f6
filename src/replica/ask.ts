/** Questions between replicas: JSON to another replica, JSON back. Nothing here acts for a client. */
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { readBounded } from "../kernel/read-bounded.ts";
import type { ChannelAgent } from "./channel.ts";
import { endpointOf } from "./endpoint-of.ts";
import { FROM, TO } from "./hop-protocol.ts";
import type { Members } from "./members.ts";

/** The path below which the internal listener takes questions, by their names. */
export const ASK = "/ask/";
/** A replica that has not answered by then is not waited for. */
const ASK_MS = 1_000;
const MAX_QUESTION_BYTES = 1024 * 1024;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Answers a question of another replica. What it rejects with is told to the asker as text. */
export type Answerer = (body: unknown, from: string) => unknown;

/**
 * `unknown`: the other replica is of a version that does not know the question. `refused`: nothing listens at
 * its address.
 */
type AskFailure = "unreachable" | "refused" | "late" | "unknown" | "failed";

export class AskError extends Error {
  readonly reason: AskFailure;

  constructor(reason: AskFailure, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface Gathered<T> {
  readonly answers: readonly { readonly replica: string; readonly value: T }[];
  /** Those that did not answer. */
  readonly silent: readonly string[];
  /** Those of the silent that do not know the question. */
  readonly unknowing: readonly string[];
  /** Those of the silent at whose address nothing listens. */
  readonly refusing: readonly string[];
}

interface AsksParts {
  readonly agent: ChannelAgent;
  readonly members: Pick<Members, "self" | "all" | "of">;
}

export class Asks {
  readonly #parts: AsksParts;
  readonly #answerers = new Map<string, Answerer>();

  constructor(parts: AsksParts) {
    this.#parts = parts;
  }

  /** From now on this replica answers questions of that name. */
  answer(name: string, answerer: Answerer): void {
    this.#answerers.set(name, answerer);
  }

  /** Rejects with an `AskError`. */
  async ask<T>(replica: string, name: string, body: unknown = {}, withinMs = ASK_MS): Promise<T> {
    const asked = this.request(replica, ASK + name, { method: "POST" });
    const timer = setTimeout(
      () => asked.destroy(new AskError("late", `replica ${replica} does not answer`)),
      withinMs,
    );
    try {
      const { status, text } = await answerOf(asked, JSON.stringify(body));
      if (status === 200) return JSON.parse(text) as T;
      if (status === 404)
        throw new AskError("unknown", `replica ${replica} does not know the question ${name}`);
      throw new AskError("failed", text);
    } catch (error) {
      if (error instanceof AskError) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = code === "ECONNREFUSED" ? "refused" : "unreachable";
      throw new AskError(reason, `replica ${replica} cannot be reached: ${message}`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Asks all other replicas that can be reached. Never rejects. */
  async askAll<T>(name: string, body: unknown = {}, withinMs = ASK_MS): Promise<Gathered<T>> {
    const { members } = this.#parts;
    const others = members.all.filter(({ id, address }) => id !== members.self && address !== undefined);
    const answers: { replica: string; value: T }[] = [];
    const silent: string[] = [];
    const unknowing: string[] = [];
    const refusing: string[] = [];
    const askOne = async ({ id }: { readonly id: string }): Promise<void> => {
      try {
        answers.push({ replica: id, value: await this.ask<T>(id, name, body, withinMs) });
      } catch (error) {
        silent.push(id);
        const { reason } = error as AskError;
        if (reason === "unknown") unknowing.push(id);
        if (reason === "refused") refusing.push(id);
      }
    };
    await Promise.all(others.map(askOne));
    return { answers, silent, unknowing, refusing };
  }

  /** A request to the internal listener of another replica, not sent yet. Throws an `AskError`. */
  request(replica: string, path: string, { method = "GET" } = {}): ClientRequest {
    const { agent, members } = this.#parts;
    const address = members.of(replica)?.address;
    if (address === undefined) throw new AskError("unreachable", `replica ${replica} has no address`);
    const headers = { [FROM]: members.self, [TO]: replica };
    return httpRequest({ ...endpointOf(address), agent, path, method, headers });
  }

  /** Answers a question that arrived at the internal listener. */
  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answerer = this.#answerers.get((request.url ?? "").slice(ASK.length));
    if (!answerer) {
      response.writeHead(404).end();
      return;
    }
    try {
      const text = await textOf(request, MAX_QUESTION_BYTES);
      const value = await answerer(JSON.parse(text), String(request.headers[FROM]));
      response.end(JSON.stringify(value ?? null));
    } catch (error) {
      response.writeHead(500).end((error as Error).message);
    }
  }
}

function answerOf(
  asked: ClientRequest,
  body: string,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    asked.once("error", reject);
    asked.once("response", (answer) => {
      const read = textOf(answer, MAX_ANSWER_BYTES);
      read.then((text) => resolve({ status: answer.statusCode ?? 0, text }), reject);
    });
    asked.end(body);
  });
}

async function textOf(message: IncomingMessage, limit: number): Promise<string> {
  const body = await readBounded(message, limit);
  if (!body) throw new Error(`a message between replicas has more than ${limit} bytes`);
  return body.toString();
}
