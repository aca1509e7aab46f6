/**
 * The contract tests for layers of the pipeline. Run them on your own layer:
 * `layerContract("mine", { kind: mine, options: { … }, passes: { … }, refuses: { … } })`.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { loadValidator } from "../gateway/schema-check.ts";
import type { Call, Uplink } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { freeze } from "../kernel/freeze.ts";
import { middlewareContract } from "../kernel/middleware.contract.ts";
import { LOCAL, type Principal } from "../kernel/principal.ts";
import { asRaw, EMPTY_OBJECT, type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import type { ToolFacts } from "../kernel/tool-facts.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { type CustomLayerKind, guardedKind } from "./custom-layer.ts";
import type { LayerRequest, PlacedLayer } from "./layer.ts";
import { hiddenBy } from "./list-rules.ts";
import { pipelineOf } from "./pipeline.ts";
import { LayerRegistry } from "./registry.ts";
import { RequestLayers } from "./request-layers.ts";

/** The parts of a call that a layer judges by. */
export interface LayerCall {
  /** `server:tool`. */
  readonly tool?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly annotations?: ToolFacts["annotations"];
  readonly labels?: readonly string[];
  readonly principal?: Partial<Principal>;
}

export interface LayerSubject {
  /** The default export of the module. */
  readonly kind: CustomLayerKind;
  /** The layer comes with MetaMCP: it may have more functions than an own layer, and is not guarded. */
  readonly builtIn?: true;
  /** Valid options. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Invalid options. */
  readonly wrong?: readonly Readonly<Record<string, unknown>>[];
  /** A call that the layer passes unchanged. Default: a call of a read-only tool. */
  readonly passes?: LayerCall;
  /** A call that the layer refuses, if it refuses any. */
  readonly refuses?: LayerCall;
}

const USE = "./contract.mjs";
const RESULT = '{ "content":[ {"type":"text","text":"\\u00fc"} ], "n":98765432109876543210 }';
const HARMLESS: LayerCall = { tool: "one:echo", annotations: { readOnlyHint: true } };
const ODD = [
  "{}",
  '{"name":"echo"}',
  '{"name":"echo","arguments":null}',
  '{"name":"echo","arguments":[]}',
  '{"name":"echo","arguments":"text"}',
  '{"name":"echo","arguments":{"n":1,"n":2}}',
  `{"name":"echo","arguments":{"deep":${"[".repeat(500)}${"]".repeat(500)}}}`,
  `{"name":"echo","arguments":{"long":"${"x".repeat(200_000)}"}}`,
];
const PRINCIPALS: readonly Principal[] = [
  LOCAL.principal,
  { id: "a", kind: "account", name: "a@example.org", roles: ["member"], groups: ["dev"] },
  { id: "b", kind: "account", name: "b@example.org", roles: ["admin"], groups: [] },
  { id: "key k", kind: "key", name: "k", roles: [], groups: [], key: { id: "k", name: "k" } },
];

const raw = (text: string): Raw => asRaw(Buffer.from(text));
const silent: Uplink = {
  notify: () => {},
  request: () => Promise.reject(new Error("this client cannot be asked")),
};

function factsOf({ tool = "one:echo", annotations = {}, labels = [] }: LayerCall): ToolFacts {
  const [server = "", name = ""] = tool.split(":");
  return { server, name, labels, annotations, definition: toRaw({ name, inputSchema: { type: "object" } }) };
}

function callOf(wanted: LayerCall, more: Partial<Call> = {}): Call {
  const facts = factsOf(wanted);
  const principal: Principal = { ...LOCAL.principal, ...wanted.principal };
  return {
    server: facts.server,
    method: "tools/call",
    tool: facts.name,
    params: toRaw({ name: facts.name, arguments: wanted.args ?? {} }),
    origin: { ...LOCAL, principal, session: "a", capabilities: EMPTY_OBJECT, uplink: silent },
    signal: new CallSignal(),
    deadline: Number.POSITIVE_INFINITY,
    repeat: wanted.annotations?.readOnlyHint ? "safe" : "unknown",
    uplink: silent,
    facts,
    ...more,
  };
}

export function layerContract(name: string, subject: LayerSubject): void {
  const { kind, builtIn, options, wrong = [], passes = HARMLESS, refuses } = subject;
  const entry = { use: USE, ...options };
  let registry: LayerRegistry;
  const layerOf = (): PlacedLayer => ({
    ...registry.compile(entry, { clock: new ManualClock() }),
    use: USE,
    at: "the contract",
  });
  const around = (answer: (call: Call) => Promise<Raw> = async () => raw(RESULT)) => {
    const layer = layerOf();
    const seen: Call[] = [];
    const handler = pipelineOf(
      [layer],
      (call) => {
        seen.push(call);
        return answer(call);
      },
      new ManualClock(),
    );
    return { layer, seen, handler };
  };

  describe(`${name} keeps the contract of a layer`, () => {
    beforeAll(async () => {
      registry = new LayerRegistry(
        new Map([[USE, builtIn ? kind : guardedKind(kind, USE)]]),
        await loadValidator(),
      );
      await registry.prepare([entry]);
    });

    test("accepts its options and rejects others", async () => {
      expect(registry.check(entry)).toEqual([]);
      expect(registry.check({ ...entry, notAnOption: true })).toMatchObject([{ path: "/notAnOption" }]);
      for (const options of wrong) {
        const bad = { use: USE, ...options };
        await registry.prepare([bad]);
        expect(registry.check(bad), JSON.stringify(options)).not.toEqual([]);
      }
    });

    test("passes an unrelated call and its result on once, byte for byte", async () => {
      const { handler, seen } = around();
      const call = callOf(passes);
      const before = call.params.toString();
      expect((await handler(call)).toString()).toBe(RESULT);
      expect(seen.map(({ params }) => params.toString())).toEqual([before]);
    });

    test.skipIf(!refuses)(
      "refuses a call with an error code, and the call does not reach the server",
      async () => {
        const { handler, seen } = around();
        const refused = await handler(callOf(refuses ?? {})).catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(MetaMcpError);
        expect((refused as MetaMcpError).code).not.toBe("internal");
        expect(seen).toEqual([]);
      },
    );

    test("passes calls with unusual arguments on unchanged, or refuses them, but never fails", async () => {
      for (const written of ODD) {
        const { handler, seen } = around();
        const outcome = await handler(callOf(passes, { params: raw(written) })).catch(
          (error: unknown) => error,
        );
        const told = MetaMcpError.is(outcome) ? outcome.code : String(outcome);
        expect([RESULT, "forbidden", "validation_input", "rate_limited", "tool_not_found"]).toContain(told);
        for (const { tool } of seen) expect(tool).toBe(factsOf(passes).name);
      }
    });

    test("refuses calls of tools that it hides", async () => {
      const { layer, handler, seen } = around();
      const tools = [passes, ...(refuses ? [refuses] : []), { tool: "two:delete", labels: ["x"] }];
      for (const wanted of tools)
        for (const principal of PRINCIPALS) {
          const hidden = layer.list?.hides(factsOf(wanted), principal);
          if (hidden === undefined) continue;
          const call = handler(callOf({ ...wanted, principal }));
          await expect(call).rejects.toMatchObject({ code: "tool_not_found" });
        }
      expect(seen).toEqual([]);
    });

    test("hides the same tools each time, and the same from principals with the same key", async () => {
      const { list } = layerOf();
      const answers = new Map<string, unknown>();
      for (const facts of [passes, refuses ?? {}, { tool: "two:delete" }].map(factsOf))
        for (const principal of PRINCIPALS) {
          const [tool, as] = [freeze({ ...facts, definition: undefined }), freeze({ ...principal })];
          const said = list?.hides(tool, as);
          expect(list?.hides(tool, as), "second time").toBe(said);
          const key = JSON.stringify([facts.server, facts.name, list?.keyOf?.(as) ?? ""]);
          if (answers.has(key)) expect(said !== undefined).toBe(answers.get(key));
          answers.set(key, said !== undefined);
        }
    });

    test("does not show a tool that another layer hides", async () => {
      const hiding: PlacedLayer = { use: "all", at: "outside", list: { hides: () => "hidden" } };
      const layer = layerOf();
      for (const layers of [
        [hiding, layer],
        [layer, hiding],
      ])
        expect(hiddenBy(layers, factsOf(passes), LOCAL.principal)).toBeDefined();
    });

    test.each(["tools/list", "resources/list", "request/of/tomorrow"])(
      "passes a request, its answer and its error on once, unchanged: %s",
      async (method) => {
        const layers = new RequestLayers([layerOf()]);
        const params = raw('{ "n": 1.0 }');
        const call = callOf(passes);
        const request: LayerRequest = { ...call, method, params };
        let asked = 0;
        const answer = await layers.handle(request, async () => {
          asked += 1;
          return raw(RESULT);
        });
        expect([answer.toString(), asked]).toEqual([RESULT, 1]);
        const error = RpcError.of(-32_099, "an unknown error");
        await expect(layers.handle(request, () => Promise.reject(error))).rejects.toBe(error);
      },
    );

    test("explain neither makes nor counts a call, and agrees with the outcome", async () => {
      const { layer, handler, seen } = around();
      if (!layer.explain) return;
      const explain = (call: Call) => layer.explain?.(call);
      for (let n = 0; n < 20; n += 1) await explain(callOf(passes));
      expect(seen).toEqual([]);
      const before = await explain(callOf(passes));
      expect(["deny", "limit"]).not.toContain(before?.effect);
      expect((await handler(callOf(passes))).toString()).toBe(RESULT);
      if (!refuses) return;
      const said = await Promise.resolve(explain(callOf(refuses))).catch((error: unknown) => {
        expect(error).toBeInstanceOf(MetaMcpError);
        return { effect: "deny" };
      });
      expect(["deny", "limit", "ask", "approve"]).toContain(said?.effect);
    });

    const facts = factsOf(passes);
    middlewareContract("its call function", () => layerOf().call ?? ((next) => next), {
      facts,
      server: facts.server,
      tool: facts.name,
    });
  });
}
