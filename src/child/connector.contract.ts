/**
 * The tests that every connector must pass. To run them on your own connector, give a function that makes it,
 * and the spec of an MCP server that answers `ping` at once, answers `tools/call` of `echo` with a result
 * that contains the argument `message`, and never answers `tools/call` of `hang`.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import type { ServerSpec } from "../config/spec.ts";
import { asRaw, fromRaw, toRaw } from "../kernel/raw.ts";
import { ownId } from "../rpc/id.ts";
import type { Message } from "../rpc/message.ts";
import { ChildFailure, type Connector, type Link, type LinkEvents } from "./link.ts";

export interface Subject {
  readonly connector: Connector;
  readonly spec: ServerSpec;
  /**
   * A server that does not exist. Leave it out if the connector reaches only one, such as an object in its
   * own process.
   */
  readonly unreachable?: ServerSpec | undefined;
  /** Of a kind that this connector does not support. Leave it out if the connector does not read the spec. */
  readonly foreign?: ServerSpec | undefined;
  /** Kills the child at once while its link is open. Leave it out if the child cannot end by itself. */
  readonly kill?: ((link: Link) => Promise<void> | void) | undefined;
  /** Resolves when nothing is left of any link: processes, sockets. */
  gone(): Promise<void>;
}

type Outcome = { message: Message } | { failure: ChildFailure };

/** Records events. Each request settles exactly once. */
class Listener implements LinkEvents {
  readonly closings: ChildFailure[] = [];
  events = 0;
  readonly #waiting = new Map<number, (outcome: Outcome) => void>();
  #closed: (failure: ChildFailure) => void = () => {};
  readonly closed = new Promise<ChildFailure>((resolve) => {
    this.#closed = resolve;
  });

  outcome(id: number): Promise<Outcome> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  onMessage(message: Message): void {
    this.events++;
    if ((message.kind === "result" || message.kind === "error") && message.id)
      this.#settle(ownId(message.id), { message });
  }

  onFailed(id: number, failure: ChildFailure): void {
    this.events++;
    this.#settle(id, { failure });
  }

  onClosed(failure: ChildFailure): void {
    this.events++;
    this.closings.push(failure);
    for (const id of this.#waiting.keys()) this.#settle(id, { failure });
    this.#closed(failure);
  }

  #settle(id: number, outcome: Outcome): void {
    this.#waiting.get(id)?.(outcome);
    this.#waiting.delete(id);
  }
}

class Client {
  readonly listener: Listener;
  readonly link: Link;
  #id = 0;

  constructor(listener: Listener, link: Link) {
    this.listener = listener;
    this.link = link;
  }

  static async open({ connector, spec }: Pick<Subject, "connector" | "spec">): Promise<Client> {
    const listener = new Listener();
    const link = await connector.open(spec, listener, new AbortController().signal);
    onTestFinished(() => link.close());
    return new Client(listener, link);
  }

  ask(method: string, params: unknown): Promise<Outcome> {
    const id = ++this.#id;
    const outcome = this.listener.outcome(id);
    this.link.send({ kind: "request", id: asRaw(Buffer.from(String(id))), method, params: toRaw(params) });
    return outcome;
  }

  call(name: string, args: object): Promise<Outcome> {
    return this.ask("tools/call", { name, arguments: args });
  }

  async handshake(): Promise<Outcome> {
    const clientInfo = { name: "contract", version: "1" };
    const outcome = await this.ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo,
    });
    if ("failure" in outcome) return outcome;
    this.link.agreed("2025-11-25");
    this.link.send({ kind: "notification", method: "notifications/initialized", params: undefined });
    return outcome;
  }
}

function textOf(outcome: Outcome): string {
  if ("failure" in outcome) throw outcome.failure;
  return JSON.stringify(outcome.message.kind === "result" ? fromRaw(outcome.message.result) : outcome);
}

const NO_KILL = "its child cannot end by itself";

export function connectorContract(name: string, make: () => Promise<Subject>): void {
  describe(`${name} keeps the contract of connectors`, () => {
    test("each of many parallel requests gets its own answer", async () => {
      const client = await Client.open(await make());
      await client.handshake();
      const words = Array.from({ length: 50 }, (_, n) => `wörd ${n} \u2028 "quoted"`);
      const outcomes = await Promise.all(words.map((message) => client.call("echo", { message })));

      for (const [n, outcome] of outcomes.entries())
        expect(textOf(outcome)).toContain(JSON.stringify(words[n]).slice(1, -1));
      expect(client.listener.closings).toEqual([]);
      expect(client.link.peer).not.toBe("");
    });

    test("a closed link leaves nothing behind, reports no events and ignores requests; closing it twice is safe", async () => {
      const subject = await make();
      const client = await Client.open(subject);
      await client.handshake();
      void client.call("hang", {});
      const answered = client.listener.events;
      await Promise.all([client.link.close(), client.link.close()]);
      await client.link.close();
      void client.call("echo", { message: "too late" });

      await subject.gone();
      expect(client.listener.events).toBe(answered);
    });

    test("a link that was never used can be closed", async () => {
      const subject = await make();
      const client = await Client.open(subject);
      await client.link.close();

      await subject.gone();
      expect(client.listener.events).toBe(0);
    });

    test("a request in flight fails when the child is killed, and counts as possibly sent", async ({
      skip,
    }) => {
      const subject = await make();
      const kill = subject.kill ?? skip(NO_KILL);
      const client = await Client.open(subject);
      await client.handshake();
      const hanging = client.call("hang", {});
      textOf(await client.ask("ping", {}));
      await kill(client.link);

      expect(await hanging).toMatchObject({ failure: { name: "ChildFailure", unsent: false } });
      await client.link.close();
      await subject.gone();
    });

    test("after the child was killed the link reports its end once, at the latest when it is used", async ({
      skip,
    }) => {
      const subject = await make();
      const kill = subject.kill ?? skip(NO_KILL);
      const client = await Client.open(subject);
      await client.handshake();
      textOf(await client.ask("ping", {}));
      await kill(client.link);
      // Over HTTP a request may still use an open socket of the killed server. Then only that request fails.
      while (client.listener.closings.length === 0)
        await Promise.race([client.ask("ping", {}), client.listener.closed]);

      await client.link.close();
      expect(client.listener.closings).toHaveLength(1);
    });

    test("a server that does not exist fails as offline, at the latest with the first request, and leaves nothing behind", async ({
      skip,
    }) => {
      const subject = await make();
      const unreachable = subject.unreachable ?? skip("it reaches only one server");
      const listener = new Listener();
      const failure = await subject.connector
        .open(unreachable, listener, new AbortController().signal)
        .then(async (link) => {
          const outcome = await new Client(listener, link).handshake();
          await link.close();
          return "failure" in outcome && outcome.failure;
        })
        .catch((error: unknown) => error);

      expect(failure).toBeInstanceOf(ChildFailure);
      expect(failure).toMatchObject({ category: "offline", unsent: true });
      await subject.gone();
    });

    test("a spec of another kind is refused", async ({ skip }) => {
      const subject = await make();
      const foreign = subject.foreign ?? skip("it does not read the spec");

      const opening = subject.connector.open(foreign, new Listener(), new AbortController().signal);
      await expect(opening).rejects.toBeInstanceOf(ChildFailure);
    });

    test("open() rejects if it is aborted before or while it opens, and leaves nothing behind", async () => {
      const subject = await make();
      const { connector, spec } = subject;
      await expect(connector.open(spec, new Listener(), AbortSignal.abort())).rejects.toBeInstanceOf(
        ChildFailure,
      );
      const abort = new AbortController();
      const opening = connector.open(spec, new Listener(), abort.signal);
      abort.abort();
      // A connector that needs no network to open may succeed before the abort.
      await opening.then((link) => link.close()).catch((error) => expect(error).toBeInstanceOf(ChildFailure));

      await subject.gone();
    });
  });
}
