import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { LOCAL_USER, PERSONAL } from "../../kernel/principal.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import type { ClientRequest } from "../../surface/surface.ts";
import { StatelessClients } from "./stateless-clients.ts";
import type { Served } from "./stateless-host.ts";

interface Exchanged {
  readonly served: Served;
  answers: number;
  cancelled: boolean;
}

interface Child {
  readonly request: ClientRequest;
  readonly finish: (result: Raw) => void;
  finished: boolean;
  questions: number;
  settled: number;
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};

/** One caller, many calls, each begun, asked about, retried, left and finished in any order. */
class World {
  readonly clock = new ManualClock();
  readonly exchanges: Exchanged[] = [];
  readonly children: Child[] = [];
  /** States that were given, with the questions they stand for. */
  readonly states: { state: string; names: string[]; used: boolean }[] = [];
  begun = 0;
  ended = 0;
  readonly era2026 = new StatelessClients({
    endpoint: PERSONAL,
    clock: this.clock,
    onEnded: () => void this.ended++,
    surface: {
      capabilities: {},
      instructions: () => "",
      handle: (request) =>
        new Promise((finish, reject) => {
          this.children.push({ request, finish, finished: false, questions: 0, settled: 0 });
          request.signal.addEventListener("abort", () => reject(request.signal.reason as Error));
        }),
    },
  });

  send(more: object = {}): void {
    const reply: Exchanged = { served: { cancel() {} }, answers: 0, cancelled: false };
    const at = this.exchanges.push(reply) - 1;
    const params = toRaw({ name: "t", arguments: {}, _meta: META, ...more });
    const served = this.era2026.serve(
      { kind: "request", id: toRaw(at), method: "tools/call", params },
      {
        principal: LOCAL_USER,
        send: (message) => {
          expect(reply.cancelled).toBe(false);
          expect(message.kind).not.toBe("notification");
          reply.answers++;
          if (message.kind !== "result") return;
          const { resultType, requestState, inputRequests } = fromRaw(message.result) as Record<
            string,
            unknown
          >;
          if (resultType !== "input_required") return;
          const names = Object.keys(inputRequests as object);
          this.states.push({ state: requestState as string, names, used: false });
        },
      },
    );
    Object.assign(reply, { served });
  }

  begin(): void {
    this.begun++;
    this.send();
  }

  retry(which: number, whole: boolean): void {
    const state = this.states[which % Math.max(1, this.states.length)];
    if (!state) return;
    const names = whole ? state.names : state.names.slice(1);
    this.send({
      requestState: state.state,
      inputResponses: Object.fromEntries(names.map((name) => [name, { action: "accept" }])),
    });
    state.used = true;
  }

  ask(which: number): void {
    const child = this.children[which % Math.max(1, this.children.length)];
    if (!child || child.finished || child.request.signal.aborted) return;
    child.questions++;
    const settled = (): void => void child.settled++;
    child.request.uplink.request("elicitation/create", toRaw({}), new CallSignal()).then(settled, settled);
  }

  finish(which: number): void {
    const child = this.children[which % Math.max(1, this.children.length)];
    if (!child || child.finished) return;
    child.finished = true;
    child.finish(toRaw({ content: [] }));
  }

  cancel(which: number): void {
    const reply = this.exchanges[which % Math.max(1, this.exchanges.length)];
    if (!reply || reply.answers > 0) return;
    reply.cancelled = true;
    reply.served.cancel("gone");
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const which = fc.nat(12);
const step = fc.oneof(
  fc.record({ do: fc.constant("begin" as const) }),
  fc.record({ do: fc.constant("retry" as const), which, whole: fc.boolean() }),
  fc.record({ do: fc.constant("ask" as const), which }),
  fc.record({ do: fc.constant("finish" as const), which }),
  fc.record({ do: fc.constant("cancel" as const), which }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.nat(700_000) }),
  fc.record({ do: fc.constant("turn" as const) }),
);

test("in any order of events each call runs once, each request gets one answer, and nothing is left behind", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const world = new World();
      for (const now of steps) {
        if (now.do === "begin") world.begin();
        else if (now.do === "retry") world.retry(now.which, now.whole);
        else if (now.do === "ask") world.ask(now.which);
        else if (now.do === "finish") world.finish(now.which);
        else if (now.do === "cancel") world.cancel(now.which);
        else if (now.do === "wait") world.clock.advance(now.ms);
        else await turn();
        expect(world.children).toHaveLength(world.begun);
        for (const { answers } of world.exchanges) expect(answers).toBeLessThanOrEqual(1);
      }
      await turn();
      // Everyone whose call is over has an answer, unless he left; and what nobody came for ends by itself.
      for (const at of world.children.keys()) world.finish(at);
      await turn();
      world.clock.advance(600_001);
      await turn();
      for (const { answers, cancelled } of world.exchanges) expect(answers).toBe(cancelled ? 0 : 1);
      for (const { questions, settled } of world.children) expect(settled).toBe(questions);
      expect(world.ended).toBe(world.begun);
      expect([world.era2026.serving, world.clock.pending]).toEqual([0, 0]);
    }),
    { numRuns: 150 },
  );
});
