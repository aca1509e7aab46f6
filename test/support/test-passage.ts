/** A request that a test passes on to a replica, and the whole answer that it gets. */
import type { IncomingMessage } from "node:http";
import type { Failure, Passage } from "../../src/replica/hop-channel.ts";
import { encodeRequest } from "../../src/replica/request-head.ts";

interface Sent {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

interface Whole {
  readonly status: number;
  readonly text: string;
}

export class TestPassage implements Passage {
  readonly content: readonly Buffer[];
  readonly whole: Promise<Whole>;
  number: number | undefined;
  #settle: { resolve: (whole: Whole) => void; reject: (error: Error) => void } | undefined;
  #text = "";

  constructor({ body, ...request }: Sent) {
    const facts = { address: "203.0.113.9", released: false };
    const message = { method: "POST", headers: {}, ...request } as IncomingMessage;
    this.content = encodeRequest(message, body === undefined ? undefined : Buffer.from(body), facts);
    this.whole = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  answer(content: Buffer): boolean {
    return this.data(content);
  }

  data(content: Buffer): boolean {
    this.#text += content.toString();
    return true;
  }

  end(): void {
    const [head = "", ...text] = this.#text.split("\r\n\r\n");
    this.#settle?.resolve({ status: Number(head.split(" ")[1]), text: text.join("\r\n\r\n") });
  }

  failed(failure: Failure): void {
    this.#settle?.reject(Object.assign(new Error("no answer"), failure));
  }
}
