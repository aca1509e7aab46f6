import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MetaMcpError } from "../kernel/errors.ts";
import { asRaw, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { encode } from "./encode.ts";
import type { Message } from "./message.ts";
import { type Incoming, Peer, type PeerHandlers, type Via } from "./peer.ts";
import { RpcError } from "./rpc-error.ts";
import { readMessage } from "./scan.ts";

const raw = (text: string): Raw => asRaw(Buffer.from(text));
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const never = new Promise<Raw>(() => {});

/** A peer without another side: the test sends its messages with `say`. */
function alone(handlers: Partial<PeerHandlers> = {}) {
  const sent: string[] = [];
  const vias: Via[] = [];
  const served: Incoming[] = [];
  const notified: unknown[] = [];
  const peer = new Peer(
    (message, via) => {
      sent.push(Buffer.concat(encode(message)).toString().replace('{"jsonrpc":"2.0",', "{"));
      vias.push(via);
    },
    {
      onRequest: (request) => {
        served.push(request);
        return never;
      },
      onNotification: (method, params, via) => notified.push([method, params?.toString(), via]),
      ...handlers,
    },
  );
  const say = (text: string, via?: Via): void =>
    peer.receive(readMessage(Buffer.from(text.replace("{", '{"jsonrpc":"2.0",'))), via);
  return { peer, sent, vias, served, notified, say };
}

test("a message is sent with `alone` if no other one is pending in its direction", async () => {
  const sent: [string, boolean | undefined][] = [];
  const answers: ((result: Raw) => void)[] = [];
  const peer = new Peer(
    (message, _via, only) => void sent.push([Buffer.concat(encode(message)).toString().slice(17, -1), only]),
    {
      onRequest: () => new Promise((resolve) => answers.push(resolve)),
      onNotification: () => {},
    },
  );
  const say = (text: string): void => peer.receive(readMessage(Buffer.from(`{"jsonrpc":"2.0",${text}}`)));
  void peer.request("a", undefined);
  void peer.request("b", undefined);
  say('"id":1,"result":1');
  say('"id":2,"result":1');
  void peer.request("c", undefined);
  for (const id of [7, 8, 9]) say(`"id":${id},"method":"m"`);
  answers[1]?.(raw("1"));
  await turn();
  // A cancelled request gets no answer, so the last of the others is alone.
  say('"method":"notifications/cancelled","params":{"requestId":9}');
  answers[0]?.(raw("1"));
  answers[2]?.(raw("1"));
  await turn();
  expect(sent).toEqual([
    ['"id":1,"method":"a"', true],
    ['"id":2,"method":"b"', false],
    ['"id":3,"method":"c"', true],
    ['"id":8,"result":1', false],
    ['"id":7,"result":1', true],
  ]);
});

describe("our own requests", () => {
  test("are numbered from 1 and get their own answers as written", async () => {
    const { peer, sent, say } = alone();
    const first = peer.request("a", raw('{"x":1.0}'));
    const second = peer.request("b", undefined);
    expect(sent).toEqual(['{"id":1,"method":"a","params":{"x":1.0}}', '{"id":2,"method":"b"}']);
    expect(peer.pending).toBe(2);
    say('{"result":{"n":9007199254740993},"id":2}');
    say('{"id":1,"error":{"code":-5,"message":"no","data":1.0}}');
    expect((await second).toString()).toBe('{"n":9007199254740993}');
    const error = await first.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RpcError);
    expect((error as RpcError).raw.toString()).toBe('{"code":-5,"message":"no","data":1.0}');
    expect(peer.pending).toBe(0);
  });

  test.each(['"1"', "1.0", "1e0"])("accept an answer whose id is %s", async (id) => {
    const { peer, say } = alone();
    const answer = peer.request("a", undefined);
    say(`{"id":${id},"result":7}`);
    expect((await answer).toString()).toBe("7");
  });

  test.each(['"x1"', "2", "0", "-1", "10000000000000000000001", '""', '"1 "', "1.5"])(
    "ignore an answer whose id is %s",
    async (id) => {
      const { peer, say, sent } = alone();
      const answer = peer.request("a", undefined);
      say(`{"id":${id},"result":"wrong"}`);
      say(`{"id":${id},"error":{}}`);
      say('{"error":{}}');
      expect([peer.pending, sent.length]).toEqual([1, 1]);
      say('{"id":1,"result":"right"}');
      expect(fromRaw(await answer)).toBe("right");
    },
  );

  test("ignore a second answer", async () => {
    const { peer, say } = alone();
    const answer = peer.request("a", undefined);
    say('{"id":1,"result":1}');
    say('{"id":1,"result":2}');
    expect(fromRaw(await answer)).toBe(1);
  });

  test("report their id before they are sent, and are sent on their stream", () => {
    const { peer, sent, vias } = alone();
    const seen: unknown[] = [];
    const via = {};
    void peer.request("a", undefined, { via, onSent: (id) => seen.push(id, sent.length) });
    expect(seen).toEqual([1, 0]);
    expect(vias).toEqual([via]);
  });

  test("fail if their answer cannot be read", async () => {
    const { peer, say, sent } = alone();
    const answers = [1, 2, 3].map(() => peer.request("a", undefined).catch((error: RpcError) => error.code));
    say('{"id":1,"result":{"a":1,}}');
    say('{"id":2}');
    say('{"id":3,"error":"text"}');
    expect(await Promise.all(answers)).toEqual([-32700, -32600, -32600]);
    expect(sent.length).toBe(3);
  });

  test("reject one by one with the reason given to fail()", async () => {
    const { peer, say } = alone();
    const [first, second] = [peer.request("a", undefined), peer.request("b", undefined)];
    const reason = new Error("HTTP 500");
    peer.fail(1, reason);
    peer.fail(1, new Error("again"));
    peer.fail(9, new Error("unknown"));
    await expect(first).rejects.toBe(reason);
    say('{"id":2,"result":1}');
    expect(fromRaw(await second)).toBe(1);
  });
});

describe("cancelling our own request", () => {
  test("notifies the other side, rejects at once and ignores a late answer", async () => {
    const { peer, sent, vias, say } = alone();
    const controller = new AbortController();
    const via = {};
    const answer = peer.request("a", undefined, { signal: controller.signal, via });
    const reason = new MetaMcpError("cancelled", "changed my mind");
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    expect(sent[1]).toBe(
      '{"method":"notifications/cancelled","params":{"requestId":1,"reason":"changed my mind"}}',
    );
    expect(vias[1]).toBe(via);
    say('{"id":1,"result":1}');
    expect([peer.pending, sent.length]).toEqual([0, 2]);
  });

  test("leaves no listener on the signal after the answer", async () => {
    const { peer, say } = alone();
    const { signal } = new AbortController();
    const answers = [peer.request("a", undefined, { signal }), peer.request("b", undefined, { signal })];
    say('{"id":1,"result":1}');
    expect(getEventListeners(signal, "abort").length).toBe(1);
    peer.fail(2, new Error("lost"));
    await Promise.allSettled(answers);
    expect(getEventListeners(signal, "abort").length).toBe(0);
  });

  test("before it is sent sends nothing", async () => {
    const { peer, sent } = alone();
    await expect(peer.request("a", undefined, { signal: AbortSignal.abort("why") })).rejects.toBe("why");
    expect(sent).toEqual([]);
  });

  test("after the answer sends nothing", async () => {
    const { peer, sent, say } = alone();
    const controller = new AbortController();
    const answer = peer.request("a", undefined, { signal: controller.signal });
    say('{"id":1,"result":1}');
    controller.abort();
    expect(fromRaw(await answer)).toBe(1);
    expect(sent.length).toBe(1);
  });

  test("sends no cancellation for initialize", async () => {
    const { peer, sent } = alone();
    const controller = new AbortController();
    const answer = peer.request("initialize", undefined, { signal: controller.signal });
    controller.abort("slow");
    await expect(answer).rejects.toBe("slow");
    expect(sent.length).toBe(1);
  });
});

describe("requests of the other side", () => {
  test("are answered with their id as written, on the stream they came on", async () => {
    const { say, sent, vias } = alone({ onRequest: ({ params }) => Promise.resolve(params ?? raw("0")) });
    say('{"id":"\\u0061","method":"m","params":{"a":1.0}}', 7);
    say('{"id":12345678901234567890,"method":"m"}', 8);
    await turn();
    expect(sent).toEqual(['{"id":"\\u0061","result":{"a":1.0}}', '{"id":12345678901234567890,"result":0}']);
    expect(vias).toEqual([7, 8]);
  });

  test.each<[string, unknown, string]>([
    [
      "an RpcError unchanged",
      new RpcError(raw('{"code":-1,"message":"m","x":1.0}')),
      '{"code":-1,"message":"m","x":1.0}',
    ],
    [
      "any other error without its text",
      new Error("/home/secret"),
      '{"code":-32603,"message":"internal error"}',
    ],
    ["undefined", undefined, '{"code":-32603,"message":"internal error"}'],
    [
      "a MetaMcpError with its code",
      new MetaMcpError("server_unavailable", "try later"),
      '{"code":-32603,"message":"try later","data":{"code":"server_unavailable","message":"try later","retryable":true}}',
    ],
  ])("fail with %s", async (_, reason, error) => {
    const rejecting = alone({ onRequest: () => Promise.reject(reason) });
    const throwing = alone({
      onRequest: () => {
        throw reason;
      },
    });
    for (const { say, sent, peer } of [rejecting, throwing]) {
      say('{"id":1,"method":"m"}');
      await turn();
      expect(sent).toEqual([`{"id":1,"error":${error}}`]);
      expect(peer.serving).toBe(0);
    }
  });

  test("are refused if their id is in use, without affecting the first request", async () => {
    let finish: ((result: Raw) => void) | undefined;
    const { say, sent, peer } = alone({ onRequest: () => new Promise((resolve) => (finish = resolve)) });
    say('{"id":"a","method":"m"}');
    say('{"id":"\\u0061","method":"m"}');
    expect(sent).toEqual([expect.stringContaining('{"id":"\\u0061","error":{"code":-32600')]);
    expect(peer.serving).toBe(1);
    finish?.(raw("1"));
    await turn();
    expect(sent[1]).toBe('{"id":"a","result":1}');
    say('{"id":"a","method":"m"}');
    expect(peer.serving).toBe(1);
  });

  test('are distinguished by the ids 1 and "1"', () => {
    const { say, peer } = alone();
    say('{"id":1,"method":"m"}');
    say('{"id":"1","method":"m"}');
    expect(peer.serving).toBe(2);
  });

  test("are aborted with the given reason and not answered when they are cancelled", async () => {
    let finish: ((result: Raw) => void) | undefined;
    const seen: Incoming[] = [];
    const { say, sent, peer, notified } = alone({
      onRequest: (request) => {
        seen.push(request);
        return new Promise((resolve) => (finish = resolve));
      },
    });
    say('{"id":"a","method":"m"}');
    say('{"id":"b","method":"m"}');
    let aborts = 0;
    seen[1]?.signal.addEventListener("abort", () => aborts++);
    say('{"method":"notifications/cancelled","params":{"requestId":"\\u0062","reason":"enough"}}');
    say('{"method":"notifications/cancelled","params":{"requestId":"b"}}');
    expect([seen[0]?.signal.aborted, seen[1]?.signal.aborted, aborts]).toEqual([false, true, 1]);
    expect(seen[1]?.signal.reason).toMatchObject({ code: "cancelled", message: "enough" });
    finish?.(raw("1"));
    await turn();
    expect([sent, peer.serving, notified]).toEqual([[], 1, []]);
  });

  test("may reuse a cancelled id, and do not get the late result of the cancelled request", async () => {
    const finish: ((result: Raw) => void)[] = [];
    const { say, sent } = alone({ onRequest: () => new Promise((resolve) => finish.push(resolve)) });
    say('{"id":1,"method":"m"}');
    say('{"method":"notifications/cancelled","params":{"requestId":1}}');
    say('{"id":1,"method":"m"}');
    finish[0]?.(raw('"first"'));
    await turn();
    expect(sent).toEqual([]);
    finish[1]?.(raw('"second"'));
    await turn();
    expect(sent).toEqual(['{"id":1,"result":"second"}']);
  });

  test.each(["{}", '{"requestId":{"a":1}}', '{"requestId":null}', "[]", '{"requestId":5,"reason":{}}'])(
    "are not cancelled by %s",
    (params) => {
      const { say, served } = alone();
      say('{"id":1,"method":"m"}');
      say(`{"method":"notifications/cancelled","params":${params}}`);
      expect(served[0]?.signal.aborted).toBe(false);
    },
  );
});

describe("notifications", () => {
  test("are sent and received unchanged, including unknown methods", () => {
    const { peer, say, sent, vias, notified } = alone();
    peer.notify("x/y", raw('{"a":1.0}'), 3);
    peer.notify("z", undefined);
    expect([sent, vias]).toEqual([
      ['{"method":"x/y","params":{"a":1.0}}', '{"method":"z"}'],
      [3, undefined],
    ]);
    say('{"method":"x/y","params":{"b":-0}}', 4);
    expect(notified).toEqual([["x/y", '{"b":-0}', 4]]);
  });
});

describe("progress", () => {
  test("goes to the right caller if two use the same token, and all other bytes stay", async () => {
    const { peer, sent, say, notified } = alone();
    const got: string[] = [];
    const params = raw('{"big":9007199254740993, "_meta":{"x":1.0,"progressToken":"t\\u0031"} }');
    const ask = (name: string): Promise<Raw> =>
      peer.request("a", params, { onProgress: (progress) => got.push(`${name} ${progress.toString()}`) });
    const first = ask("first");
    void ask("second");
    expect(sent).toEqual([
      '{"id":1,"method":"a","params":{"big":9007199254740993, "_meta":{"x":1.0,"progressToken":1} }}',
      '{"id":2,"method":"a","params":{"big":9007199254740993, "_meta":{"x":1.0,"progressToken":2} }}',
    ]);
    say('{"method":"notifications/progress","params":{"progress":1.0, "progressToken":2,"message":"m"}}');
    say('{"method":"notifications/progress","params":{"progressToken":"1","progress":2}}');
    say('{"id":1,"result":1}');
    say('{"method":"notifications/progress","params":{"progressToken":1,"progress":3}}');
    say('{"method":"notifications/progress","params":{"progressToken":99,"progress":3}}');
    say('{"method":"notifications/progress","params":{"progressToken":"t1","progress":3}}');
    say('{"method":"notifications/progress"}');
    await first;
    expect(got).toEqual([
      'second {"progress":1.0, "progressToken":"t\\u0031","message":"m"}',
      'first {"progressToken":"t\\u0031","progress":2}',
    ]);
    expect(notified).toEqual([]);
  });

  test("is recognised if its key is written with escapes", () => {
    const { peer, sent } = alone();
    void peer.request("a", raw('{"\\u005fmeta":{"progress\\u0054oken":5}}'));
    expect(sent[0]).toContain('{"\\u005fmeta":{"progress\\u0054oken":1}}');
  });

  test.each([
    '{"_meta":{"progressToken":null}}',
    '{"_meta":{"a":{"progressToken":1}}}',
    '{"progressToken":1}',
    '{"_meta":"progressToken"}',
    '{"arguments":{"_meta":{"progressToken":7}}}',
    '["progressToken"]',
  ])("is not requested by %s", (params) => {
    const { peer, sent, say } = alone();
    const got: unknown[] = [];
    void peer.request("a", raw(params), { onProgress: (progress) => got.push(progress) });
    expect(sent[0]).toBe(`{"id":1,"method":"a","params":${params}}`);
    say('{"method":"notifications/progress","params":{"progressToken":1,"progress":3}}');
    expect(got).toEqual([]);
  });
});

describe("a malformed message", () => {
  test("is answered with an error if it has an id and is no answer", () => {
    const { say, sent, vias } = alone();
    say('{"id":5,"method":7}', 1);
    say('{"id":6,"method":"m","params":{', 2);
    say('{"id":7}', 3);
    say('{"method":"m","params":{');
    say('{"id":8,"result":{');
    say("noise {}");
    expect(sent.map((text) => text.slice(0, 29))).toEqual([
      '{"id":5,"error":{"code":-3260',
      '{"id":6,"error":{"code":-3270',
      '{"id":7,"error":{"code":-3260',
    ]);
    expect(vias).toEqual([1, 2, 3]);
  });

  test("that is a request does not settle our request with the same id", () => {
    const { peer, say, sent } = alone();
    void peer.request("a", undefined);
    say('{"id":1,"method":7}');
    say('{"id":1,"method":"m","params":{');
    expect([peer.pending, sent.length]).toEqual([1, 3]);
  });

  test("goes to onMalformed if there is such a handler", () => {
    const seen: unknown[] = [];
    const { say, sent } = alone({ onMalformed: ({ code, meant }) => seen.push([code, meant]) });
    say('{"id":5,"method":7}');
    expect([seen, sent]).toEqual([[[-32600, "request"]], []]);
  });
});

describe("destroy", () => {
  test("rejects our requests, aborts those of the other side, and ignores later messages", async () => {
    const { peer, sent, served, say, notified } = alone();
    const answers = [peer.request("a", undefined), peer.request("b", undefined)];
    say('{"id":1,"method":"m"}');
    const reason = new Error("gone");
    peer.destroy(reason);
    peer.destroy(new Error("again"));
    for (const answer of answers) await expect(answer).rejects.toBe(reason);
    expect(served[0]?.signal).toMatchObject({ aborted: true, reason });
    await expect(peer.request("c", undefined)).rejects.toBe(reason);
    peer.notify("n", undefined);
    say('{"id":2,"method":"m"}');
    say('{"method":"n"}');
    say('{"id":3,"method":5}');
    expect([sent.length, served.length, notified.length, peer.pending, peer.serving]).toEqual([
      2, 1, 0, 0, 0,
    ]);
  });
});

/** Two peers. The bytes between them are held back until the test delivers them. */
class PeerPair {
  readonly #towards: [Buffer[], Buffer[]] = [[], []];
  readonly #open: { finish: (result: Raw) => void; fail: (reason: unknown) => void; value: unknown }[] = [];
  readonly peers: [Peer, Peer];
  readonly answers = new Map<string, number>();
  aborted = 0;

  constructor() {
    this.peers = [this.#peer(0), this.#peer(1)];
  }

  #peer(side: 0 | 1): Peer {
    return new Peer((message) => this.#send(side, message), {
      onRequest: (request) =>
        new Promise((finish, fail) => {
          request.signal.addEventListener("abort", () => this.aborted++);
          this.#open.push({ finish, fail, value: fromRaw(request.params as Raw) });
        }),
      onNotification: () => {
        throw new Error("nothing was notified");
      },
    });
  }

  #send(side: 0 | 1, message: Message): void {
    if (message.kind === "result" || message.kind === "error") {
      const key = `${side} ${String(message.id)}`;
      this.answers.set(key, (this.answers.get(key) ?? 0) + 1);
    }
    this.#towards[1 - side]?.push(Buffer.concat(encode(message)));
  }

  deliver(side: number): boolean {
    const bytes = this.#towards[side as 0 | 1].shift();
    if (bytes) this.peers[side as 0 | 1].receive(readMessage(bytes));
    return bytes !== undefined;
  }

  /** Ends the nth of the requests that are being served. */
  finish(nth: number): boolean {
    const [work] = this.#open.splice(nth % Math.max(1, this.#open.length), 1);
    if (!work) return false;
    const { n, fails } = (work.value as { _meta: { n: number; fails: boolean } })._meta;
    if (fails) work.fail(RpcError.of(n, "failed"));
    else work.finish(toRaw({ n }));
    return true;
  }
}

test("in any order of events each request has exactly one outcome, which is its own", async () => {
  const step = fc.record({ what: fc.nat(9), which: fc.nat(20) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const pair = new PeerPair();
      const outcomes: string[][] = [];
      const controllers: AbortController[] = [];
      for (const { what, which } of steps) {
        if (what < 3) {
          const n = outcomes.push([]) - 1;
          const controller = new AbortController();
          controllers.push(controller);
          const params = toRaw({ _meta: { n, fails: which % 3 === 0, progressToken: "same" } });
          pair.peers[(which % 2) as 0 | 1].request("m", params, { signal: controller.signal }).then(
            (result) => outcomes[n]?.push(`result ${(fromRaw(result) as { n: number }).n}`),
            (reason) =>
              outcomes[n]?.push(reason instanceof RpcError ? `error ${reason.code}` : `aborted ${reason}`),
          );
        } else if (what < 6) pair.deliver(which % 2);
        else if (what < 8) pair.finish(which);
        else
          controllers[which % Math.max(1, controllers.length)]?.abort(
            which % Math.max(1, controllers.length),
          );
        await Promise.resolve();
      }
      let moved = true;
      while (moved) {
        const steps = [pair.deliver(0), pair.deliver(1), pair.finish(0)];
        moved = steps.includes(true);
        await turn();
      }
      for (const [n, outcome] of outcomes.entries()) {
        expect(outcome).toHaveLength(1);
        expect([`result ${n}`, `error ${n}`, `aborted ${n}`]).toContain(outcome[0]);
        if (!controllers[n]?.signal.aborted) expect(outcome[0]).not.toContain("aborted");
      }
      expect([...pair.answers.values()].every((count) => count === 1)).toBe(true);
      expect(pair.aborted).toBeLessThanOrEqual(controllers.filter(({ signal }) => signal.aborted).length);
      expect(pair.peers.map(({ pending, serving }) => [pending, serving])).toEqual([
        [0, 0],
        [0, 0],
      ]);
    }),
    { numRuns: 300, seed: 7 },
  );
});
