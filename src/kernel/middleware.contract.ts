/**
 * The tests that every layer around calls must pass. To run them on your own layer, call
 * `middlewareContract("mine", () => createMine())`. Configure the layer so that it does not change calls of
 * the servers "one" and "two".
 */

import { describe, expect, test } from "vitest";
import { RpcError } from "../rpc/rpc-error.ts";
import type { Call, Handler, Middleware, Uplink } from "./call.ts";
import { MetaMcpError } from "./errors.ts";
import { LOCAL } from "./principal.ts";
import { asRaw, EMPTY_OBJECT, type Raw, toRaw } from "./raw.ts";
import { CallSignal } from "./signal.ts";

const raw = (text: string): Raw => asRaw(Buffer.from(text));

const PARAMS =
  ' {"name": "echo", "arguments": {"n": 12345678901234567890, "s": "\\u00fc"}, "unheard": [1.0]}';
const RESULT = '{ "content":[], "n":98765432109876543210, "unheard":{"of":1e2} }';
const METHODS = ["tools/call", "prompts/get", "resources/read", "method/of/tomorrow"];

const silent: Uplink = {
  notify: () => {},
  request: () => Promise.reject(new Error("nobody is there to be asked")),
};

function anyCall(changes: Partial<Call>): Call {
  return {
    server: "one",
    method: "tools/call",
    params: raw(PARAMS),
    origin: { ...LOCAL, session: "a", capabilities: EMPTY_OBJECT, uplink: silent },
    signal: new CallSignal(),
    deadline: Number.POSITIVE_INFINITY,
    repeat: "unknown",
    uplink: silent,
    ...changes,
  };
}

/** Puts the layer around a handler. Returns the result and the calls that the layer passed on. */
function around(layer: Middleware, answer: Handler = async () => raw(RESULT)): [Handler, Call[]] {
  const seen: Call[] = [];
  const handler = layer((call) => {
    seen.push(call);
    return answer(call);
  });
  return [handler, seen];
}

/** `like`: more members of the calls, such as the facts that layers use. */
export function middlewareContract(name: string, make: () => Middleware, like: Partial<Call> = {}): void {
  const callOf = (changes: Partial<Call> = {}): Call => anyCall({ ...like, ...changes });
  describe(`${name} keeps the contract of middleware`, () => {
    test.each(METHODS)(
      "%s is passed on once with its params as written, and so is its result",
      async (method) => {
        const [handler, seen] = around(make());
        const call = callOf({ method, repeat: "safe" });
        expect((await handler(call)).toString()).toBe(RESULT);
        expect(seen).toHaveLength(1);
        const { server, params, origin, repeat } = seen[0] as Call;
        expect([server, seen[0]?.method, repeat, params.toString()]).toEqual(["one", method, "safe", PARAMS]);
        expect(origin).toMatchObject({ session: "a" });
        expect(call.params.toString(), "the bytes of the caller are not changed").toBe(PARAMS);
      },
    );

    test.each([
      new MetaMcpError("rate_limited", "later", { server: "one" }),
      RpcError.of(-32_099, "an error nobody has heard of", { more: true }),
    ])("an error is passed on unchanged: $name", async (error) => {
      for (const method of METHODS) {
        const [handler] = around(make(), () => Promise.reject(error));
        await expect(handler(callOf({ method }))).rejects.toBe(error);
      }
    });

    test.each(["unknown", "unsafe"] as const)(
      "a failed call is not repeated if repeating is %s",
      async (repeat) => {
        const died = new MetaMcpError("server_unavailable", "died under the call", { server: "one" });
        const [handler, seen] = around(make(), () => Promise.reject(died));
        await expect(handler(callOf({ repeat }))).rejects.toBe(died);
        expect(seen).toHaveLength(1);
      },
    );

    test("a result with isError is passed on as a result", async () => {
      const failed = '{"content":[{"type":"text","text":"no"}],"isError":true}';
      const [handler] = around(make(), async () => raw(failed));
      expect((await handler(callOf())).toString()).toBe(failed);
    });

    test.each([Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER])(
      "the deadline %d is not extended",
      async (deadline) => {
        const [handler, seen] = around(make());
        await handler(callOf({ deadline }));
        expect(seen[0]?.deadline).toBeLessThanOrEqual(deadline);
      },
    );

    test("a cancellation reaches the handler of that call only", async () => {
      const reason = new MetaMcpError("cancelled", "changed my mind");
      const [handler, seen] = around(make(), ({ signal }) => {
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(reason)));
      });
      const [signal, other] = [new CallSignal(), new CallSignal()];
      const answer = expect(handler(callOf({ signal }))).rejects.toBe(reason);
      const unmoved = expect(handler(callOf({ signal: other }))).rejects.toBe(reason);
      await expect.poll(() => seen.length).toBe(2);
      signal.abort(reason);
      await answer;
      expect(seen.map((call) => call.signal.aborted)).toEqual([true, false]);
      other.abort(reason);
      await unmoved;
    });

    test("notifications and requests of the server reach the caller, and its answers reach the server", async () => {
      const received: unknown[] = [];
      const uplink: Uplink = {
        notify: (method, params) => void received.push(method, params?.toString()),
        request: async (method, params) => {
          received.push(method, params?.toString());
          return raw('{ "n": 1.0 }');
        },
      };
      const [handler] = around(make(), async (call) => {
        call.uplink.notify("notifications/of/tomorrow", raw(PARAMS));
        return await call.uplink.request("question/of/tomorrow", undefined, call.signal);
      });
      expect((await handler(callOf({ uplink }))).toString()).toBe('{ "n": 1.0 }');
      expect(received).toEqual(["notifications/of/tomorrow", PARAMS, "question/of/tomorrow", undefined]);
    });

    test("parallel calls get their own results, in any order of the answers", async () => {
      const answers: (() => void)[] = [];
      const [handler, seen] = around(make(), ({ server, origin }) => {
        return new Promise((resolve) =>
          answers.push(() => resolve(toRaw({ server, session: origin.session }))),
        );
      });
      const asked = ["one", "two"].flatMap((server) =>
        ["a", "b", "c"].map((session) => ({ server, session })),
      );
      const results = asked.map(({ server, session }) =>
        handler(
          callOf({ server, origin: { ...LOCAL, session, capabilities: EMPTY_OBJECT, uplink: silent } }),
        ),
      );
      await expect.poll(() => seen.length).toBe(asked.length);
      for (const answer of answers.toReversed()) answer();
      expect((await Promise.all(results)).map(String)).toEqual(asked.map((one) => JSON.stringify(one)));
    });

    test("one layer around two handlers calls each for its own calls", async () => {
      const layer = make();
      const [first] = around(layer, async () => raw('{"n":1}'));
      const [second] = around(layer, async () => raw('{"n":2}'));
      const results = await Promise.all([first(callOf()), second(callOf()), first(callOf())]);
      expect(results.map(String)).toEqual(['{"n":1}', '{"n":2}', '{"n":1}']);
    });
  });
}
