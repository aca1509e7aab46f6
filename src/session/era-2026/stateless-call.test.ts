import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { LOCAL_USER, PERSONAL } from "../../kernel/principal.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import type { ClientRequest } from "../../surface/surface.ts";
import { StatelessClients } from "./stateless-clients.ts";
import type { ServedRequest } from "./stateless-host.ts";

interface SentRequest {
  readonly served: ServedRequest;
  answers: number;
  cancelled: boolean;
}

interface SurfaceCall {
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

/**
 * One caller with many calls. Each can be begun, ask questions, be retried, cancelled and finished in any
 * order.
 */
class Fixture {
  readonly clock = new ManualClock();
  readonly requests: SentRequest[] = [];
  readonly calls: SurfaceCall[] = [];
  /** States that the client received, with the names of their questions. */
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
          this.calls.push({ request, finish, finished: false, questions: 0, settled: 0 });
          request.signal.addEventListener("abort", () => reject(request.signal.reason as Error));
        }),
    },
  });

  send(more: object = {}): void {
    const reply: SentRequest = { served: { cancel() {} }, answers: 0, cancelled: false };
    const at = this.requests.push(reply) - 1;
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
    const call = this.calls[which % Math.max(1, this.calls.length)];
    if (!call || call.finished || call.request.signal.aborted) return;
    call.questions++;
    const settled = (): void => void call.settled++;
    call.request.uplink.request("elicitation/create", toRaw({}), new CallSignal()).then(settled, settled);
  }

  finish(which: number): void {
    const call = this.calls[which % Math.max(1, this.calls.length)];
    if (!call || call.finished) return;
    call.finished = true;
    call.finish(toRaw({ content: [] }));
  }

  cancel(which: number): void {
    const reply = this.requests[which % Math.max(1, this.requests.length)];
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

test("in any order of events each call runs once, each request gets one answer, and no timer or call stays", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const fixture = new Fixture();
      for (const now of steps) {
        if (now.do === "begin") fixture.begin();
        else if (now.do === "retry") fixture.retry(now.which, now.whole);
        else if (now.do === "ask") fixture.ask(now.which);
        else if (now.do === "finish") fixture.finish(now.which);
        else if (now.do === "cancel") fixture.cancel(now.which);
        else if (now.do === "wait") fixture.clock.advance(now.ms);
        else await turn();
        expect(fixture.calls).toHaveLength(fixture.begun);
        for (const { answers } of fixture.requests) expect(answers).toBeLessThanOrEqual(1);
      }
      await turn();
      // Every request is answered unless it was cancelled, and parked calls that nobody retries end by
      // timeout.
      for (const at of fixture.calls.keys()) fixture.finish(at);
      await turn();
      fixture.clock.advance(600_001);
      await turn();
      for (const { answers, cancelled } of fixture.requests) expect(answers).toBe(cancelled ? 0 : 1);
      for (const { questions, settled } of fixture.calls) expect(settled).toBe(questions);
      expect(fixture.ended).toBe(fixture.begun);
      expect([fixture.era2026.serving, fixture.clock.pending]).toEqual([0, 0]);
    }),
    { numRuns: 150 },
  );
});
