/**
 * Contract suite for every transport. To run it on your own transport, pass a transport that has not served
 * yet and a way for clients to connect to it. The suite acts as the host and opens real sessions.
 */

import { describe, expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { PERSONAL, type Principal } from "../kernel/principal.ts";
import { asRaw, EMPTY_OBJECT, type Raw } from "../kernel/raw.ts";
import type { Send } from "../rpc/peer.ts";
import { StatelessClients } from "../session/era-2026/stateless-clients.ts";
import { Session } from "../session/session.ts";
import type { ClientRequest, Surface } from "../surface/surface.ts";
import type { Host, OpenOptions, Transport } from "./transport.ts";

export interface TransportClient {
  /** Sends one JSON-RPC message byte for byte. Rejects if it cannot be delivered. */
  send(message: string): Promise<void> | void;
  /** Returns the next message for this client, byte for byte. */
  receive(): Promise<string>;
  /** Disconnects in the usual way of this transport. */
  leave(): Promise<void> | void;
}

export interface TransportSubject {
  readonly transport: Transport;
  /** The transport can have more than one client. */
  readonly several: boolean;
  /**
   * Returns a client that has sent nothing yet. Called after `serve`; waits until the transport accepts
   * clients.
   */
  connect(): Promise<TransportClient> | TransportClient;
}

const BIG = "12345678901234567890";
const WRITTEN = `{"unheard": {"of": [${BIG}, 1.0, "\\u00fc ü 😀 \u2028"]}, "n":1e2}`;
const INITIALIZE = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"contract","version":"1"}}`;

const request = (id: string, method: string, params = WRITTEN): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

class ContractHost implements Host {
  readonly ready = true;
  readonly opened: Session[] = [];
  readonly endings: Session[] = [];
  readonly surface: Surface = {
    capabilities: {},
    instructions: () => "",
    handle: (clientRequest) => this.#handle(clientRequest),
  };
  readonly era2026 = new StatelessClients({
    endpoint: PERSONAL,
    surface: this.surface,
    clock: new ManualClock(),
    onEnded: () => {},
  });
  waiting = 0;
  handled = 0;
  over = false;
  release: () => void = () => {};
  readonly #released = new Promise<void>((resolve) => {
    this.release = resolve;
  });

  makeRoom(): boolean {
    return true;
  }

  onFull(): void {}

  offFull(): void {}

  open(send: Send, principal: Principal, how: OpenOptions = {}): Session {
    const session = new Session(this.surface, send, {
      ...how,
      endpoint: PERSONAL,
      principal,
      clock: new ManualClock(),
    });
    this.opened.push(session);
    return session;
  }

  ended(session: Session): void {
    session.destroy(new Error("the client is gone"));
    this.endings.push(session);
  }

  full() {
    return false;
  }

  recordOverLimit() {}

  repeat() {
    return "unknown" as const;
  }

  replicaOf() {
    return undefined;
  }

  health() {
    return { ready: true, down: [] };
  }

  async #handle({ method, params = EMPTY_OBJECT, uplink, signal, origin }: ClientRequest): Promise<Raw> {
    this.handled++;
    if (method === "contract/ask") {
      uplink.notify("contract/told", params);
      return await uplink.request("contract/question", params, signal);
    }
    if (method === "contract/wait") {
      this.waiting++;
      await this.#released;
    }
    return asRaw(Buffer.from(`{"session":"${origin.session}","params":${params.toString()}}`));
  }
}

interface ParsedMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: { readonly session?: string };
}

const read = (text: string): ParsedMessage => JSON.parse(text) as ParsedMessage;

/** Sends a message and returns the next message received. Rejects if the message cannot be delivered. */
async function exchange(client: TransportClient, message: string): Promise<string> {
  const answer = client.receive();
  const failed = Promise.resolve(client.send(message)).then(() => new Promise<never>(() => {}));
  return await Promise.race([answer, failed]);
}

async function initialized(subject: TransportSubject): Promise<TransportClient> {
  const client = await subject.connect();
  const answer = read(await exchange(client, request("0", "initialize", INITIALIZE)));
  expect(answer).toMatchObject({ id: 0, result: { protocolVersion: "2025-11-25" } });
  await client.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  return client;
}

export function transportContract(
  name: string,
  make: () => Promise<TransportSubject> | TransportSubject,
): void {
  async function serve() {
    const subject = await make();
    const host = new ContractHost();
    const served = subject.transport.serve(host).then(() => {
      host.over = true;
    });
    onTestFinished(() => subject.transport.close());
    return { ...subject, host, served };
  }

  describe(`${name} transport`, () => {
    test("has a name and an address", async () => {
      const { transport } = await make();
      expect(transport.name).not.toBe("");
      expect(transport.info).not.toBe("");
    });

    test.each([BIG, '"a \\u00fc"', "-1"])(
      "carries messages byte for byte in both directions (id %s)",
      async (id) => {
        const subject = await serve();
        const client = await initialized(subject);
        const answer = await exchange(client, request(id, "contract/echo"));
        expect(answer).toContain(id);
        expect(answer).toContain(WRITTEN);
        expect(subject.host.opened).toHaveLength(1);
      },
    );

    test("carries a message of 300,000 characters and the message after it", async () => {
      const client = await initialized(await serve());
      const long = JSON.stringify({ long: "äöü".repeat(100_000) });
      expect(await exchange(client, request("1", "contract/echo", long))).toContain(long);
      expect(read(await exchange(client, request("2", "ping", "{}")))).toMatchObject({ id: 2, result: {} });
    });

    test("answers each of 30 simultaneous requests once", async () => {
      const client = await initialized(await serve());
      const ids = Array.from({ length: 30 }, (_, n) => n + 1);
      const sent = ids.map(
        async (id) => await client.send(request(String(id), "contract/echo", `{"n":${id}}`)),
      );
      const answers: ParsedMessage[] = [];
      for (const _ of ids) answers.push(read(await client.receive()));
      await Promise.all(sent);
      expect(answers.map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual(ids);
      for (const { id, result } of answers) expect(result).toMatchObject({ params: { n: id } });
    });

    test("carries notifications and requests to the client while its request is in flight", async () => {
      const client = await initialized(await serve());
      const told = await exchange(client, request("1", "contract/ask"));
      const question = await client.receive();
      expect([read(told).method, read(question).method]).toEqual(["contract/told", "contract/question"]);
      for (const message of [told, question]) expect(message).toContain(WRITTEN);
      const reply = `{"jsonrpc":"2.0","id":${JSON.stringify(read(question).id)},"result":${WRITTEN}}`;
      const answer = await exchange(client, reply);
      expect(read(answer).id).toBe(1);
      expect(answer).toContain(WRITTEN);
    });

    test("serves further requests after input that is not a JSON-RPC message", async () => {
      const client = await initialized(await serve());
      for (const nonsense of ['{"jsonrpc":"2.0",', "[]", "null", '{"id":{}}'])
        await Promise.resolve()
          .then(() => client.send(nonsense))
          .catch(() => {});
      let answer = read(await exchange(client, request("7", "contract/echo")));
      while (answer.id !== 7) answer = read(await client.receive());
      expect(answer.result).toBeDefined();
    });

    test("gives each of several clients its own answers, and one that leaves does not affect the others", async ({
      skip,
    }) => {
      const subject = await serve();
      const { host, several } = subject;
      if (!several) skip("it has one client");
      const [one, two] = [await initialized(subject), await initialized(subject)];
      const both = [one, two].map((client) => exchange(client, request("1", "contract/echo")));
      const sessions = (await Promise.all(both)).map((answer) => read(answer).result?.session);
      expect(sessions).toEqual(host.opened.map(({ id }) => id));
      await one.leave();
      await expect.poll(() => host.endings.map(({ id }) => id)).toEqual(sessions.slice(0, 1));
      const answer = read(await exchange(two, request("2", "contract/echo")));
      expect(answer.result?.session).toBe(sessions[1]);
      expect(host.over).toBe(false);
    });

    test("reports once that a client left: by `ended`, or by the end of `serve` if it has only one client", async () => {
      const subject = await serve();
      const { host, transport } = subject;
      const client = await initialized(subject);
      expect([host.endings.length, host.over]).toEqual([0, false]);
      await client.leave();
      await expect.poll(() => host.endings.length > 0 || host.over).toBe(true);
      await transport.close();
      expect(host.endings.length).toBeLessThanOrEqual(1);
    });

    test("accepts no new clients after `stop`, and answers requests in flight", async () => {
      const subject = await serve();
      const { host, transport } = subject;
      const client = await initialized(subject);
      const answer = exchange(client, request("1", "contract/wait"));
      await expect.poll(() => host.waiting).toBe(1);
      const stopped = transport.stop();
      if (subject.several) {
        const late = async () =>
          await exchange(await subject.connect(), request("0", "initialize", INITIALIZE));
        const refused = await late().catch(() => '{"error":{}}');
        expect(read(refused).result).toBeUndefined();
        expect(host.opened).toHaveLength(1);
      }
      expect([host.endings.length, host.over]).toEqual([0, false]);
      host.release();
      expect(read(await answer)).toMatchObject({ id: 1, result: {} });
      await Promise.all([stopped, transport.close()]);
    });

    test("`close` sends what is queued, ends `serve` and stops reading", async () => {
      const subject = await serve();
      const { host, transport, served } = subject;
      const client = await initialized(subject);
      const answer = exchange(client, request("1", "contract/wait"));
      await expect.poll(() => host.waiting).toBe(1);
      host.release();
      // Wait only until the session has passed its answer on. Sending it is up to the transport.
      for (let turn = 0; turn < 100 && host.opened[0]?.serving; turn++) await Promise.resolve();
      expect(host.opened[0]?.serving).toBe(0);
      await Promise.all([transport.close(), transport.close()]);
      expect(read(await answer)).toMatchObject({ id: 1, result: {} });
      await served;
      await transport.close();
      const { handled } = host;
      exchange(client, request("2", "contract/echo")).catch(() => {});
      await new Promise((resolve) => setImmediate(resolve));
      expect(host.handled).toBe(handled);
      expect(host.endings.length).toBeLessThanOrEqual(1);
    });
  });
}
