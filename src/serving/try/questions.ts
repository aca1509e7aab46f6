/** The open questions of a tried call to the person at the console. */
import { randomUUID } from "node:crypto";
import type { TryAnswer, TryQuestion } from "../../gateway/try-control.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import type { Incoming } from "../../rpc/peer.ts";
import { METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";

/** The client capabilities for such questions. */
export const ASKABLE = { elicitation: { form: {}, url: {} }, sampling: {} };

/** The model name in answers to sampling requests, which a person writes. */
const MODEL = "a person";
const DECLINED = -1;

interface Open {
  readonly kind: TryQuestion["kind"];
  answer(result: Raw): void;
  refuse(error: RpcError): void;
}

export interface QuestionParts {
  asked(question: TryQuestion): void;
  withdrawn(id: string): void;
}

export class TryQuestions {
  readonly #parts: QuestionParts;
  readonly #open = new Map<string, Open>();

  constructor(parts: QuestionParts) {
    this.#parts = parts;
  }

  ask({ method, params = EMPTY_OBJECT, signal }: Incoming): Promise<Raw> {
    if (method === "ping") return Promise.resolve(EMPTY_OBJECT);
    const asked = fromRaw(params);
    const kind = kindOf(method, asked);
    if (!kind)
      return Promise.reject(RpcError.of(METHOD_NOT_FOUND, `${method} cannot be answered in the console`));
    const id = randomUUID();
    return new Promise((resolve, reject) => {
      this.#open.set(id, { kind, answer: resolve, refuse: reject });
      signal.addEventListener("abort", () => {
        if (this.#open.delete(id)) this.#parts.withdrawn(id);
        reject(signal.reason as Error);
      });
      this.#parts.asked({ id, kind, params: asked });
    });
  }

  /** Returns false if there is no such open question. */
  answer({ question, action, content, text = "" }: TryAnswer): boolean {
    const open = this.#open.get(question);
    if (!open) return false;
    this.#open.delete(question);
    if (open.kind !== "sampling") {
      const fields = action === "accept" && open.kind === "form" ? { content: content ?? {} } : {};
      open.answer(toRaw({ action, ...fields }));
    } else if (action === "accept") {
      const said = { type: "text", text };
      open.answer(toRaw({ role: "assistant", content: said, model: MODEL, stopReason: "endTurn" }));
    } else open.refuse(RpcError.of(DECLINED, "the person declined"));
    return true;
  }
}

function kindOf(method: string, asked: unknown): TryQuestion["kind"] | undefined {
  if (method === "sampling/createMessage") return "sampling";
  if (method !== "elicitation/create") return undefined;
  return (asked as { mode?: unknown } | null)?.mode === "url" ? "url" : "form";
}
