/** Layer `flow`: after a call returned data from one place, calls of the same caller to another place are refused for a time. */
import { compileGlob } from "../../config/glob.ts";
import type { Call, Handler, Uplink } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Raw } from "../../kernel/raw.ts";
import { qualifiedName, type ToolFacts } from "../../kernel/tool-facts.ts";
import { withConsent } from "../consent.ts";
import { sessionOf } from "../count-by.ts";
import type { LayerKind } from "../layer.ts";
import { Lru } from "../lru.ts";
import { perTool } from "../per-tool.ts";
import { forbidden, toolOf } from "../refusals.ts";
import { msOf, TIME, timeProblems } from "../times.ts";

type Place = string | readonly string[];
interface Pair {
  readonly from: Place;
  readonly to: Place;
}
interface Options {
  readonly deny?: readonly Pair[];
  readonly ask?: readonly Pair[];
  readonly by: "principal" | "session";
  readonly forMs: unknown;
}
interface Rule {
  readonly effect: "deny" | "ask";
  readonly from: (tool: ToolFacts) => boolean;
  readonly to: (tool: ToolFacts) => boolean;
}
/** The last read, by index of the rule. */
type Reads = Map<number, { readonly until: number; readonly what: string }>;

const MAX_CALLERS = 100_000;
const PLACE = {
  anyOf: [
    { type: "string", minLength: 1, maxLength: 1_000 },
    { type: "array", items: { type: "string", minLength: 1, maxLength: 1_000 }, minItems: 1, maxItems: 200 },
  ],
  description: "a glob for server:tool, label:NAME, or a list of them",
} as const;
const PAIRS = {
  type: "array",
  maxItems: 200,
  items: {
    type: "object",
    properties: { from: PLACE, to: PLACE },
    required: ["from", "to"],
    additionalProperties: false,
  },
} as const;

export const flow: LayerKind = {
  summary:
    "Keep data apart: after a call reads from one place, calls to another place are refused for a while.",
  guards: true,
  schema: {
    properties: {
      deny: PAIRS,
      ask: PAIRS,
      by: { enum: ["principal", "session"], default: "principal" },
      forMs: { ...TIME, default: 3_600_000 },
    },
    anyOf: [{ required: ["deny"] }, { required: ["ask"] }],
  },
  check: (options) => timeProblems(options, ["forMs"]),
  compile(given, { clock }) {
    const { deny = [], ask = [], by, forMs } = given as unknown as Options;
    const rules = [...deny.map((pair) => ruleOf(pair, "deny")), ...ask.map((pair) => ruleOf(pair, "ask"))];
    const log = new ReadLog(msOf(forMs), by, clock);
    /** The rules that name the tool as source or as destination, by index. */
    const placesOf = perTool((tool) => ({
      from: rules.flatMap(({ from }, at) => (from(tool) ? [at] : [])),
      to: rules.flatMap(({ to }, at) => (to(tool) ? [at] : [])),
    }));
    const barred = (call: Call, { to }: { readonly to: readonly number[] }) => {
      const read = to.length > 0 ? log.of(call) : undefined;
      const at = to.find((rule) => read?.has(rule));
      if (at === undefined) return undefined;
      return { effect: (rules[at] as Rule).effect, what: read?.get(at)?.what ?? "" };
    };
    const reason = (call: Call, what: string): string => `${toolOf(call)} may not run after ${what} was read`;
    return {
      gates: (tool) => (rules.some(({ to }) => to(tool)) ? "refused after certain data was read" : undefined),
      explain(call) {
        const bar = call.facts && barred(call, placesOf(call.facts));
        return bar && { effect: bar.effect, reason: reason(call, bar.what) };
      },
      call: (next) => (call) => {
        const { facts } = call;
        if (!facts) throw forbidden(call, "The tool is unknown, so its data cannot be kept apart.");
        const places = placesOf(facts);
        const bar = barred(call, places);
        const { from } = places;
        const note = (): void => log.note(call, from, qualifiedName(facts));
        const pass = (going: Call): Promise<Raw> =>
          from.length === 0 ? next(going) : noted(next, going, note);
        if (!bar) return pass(call);
        if (call.trail) call.trail.read = bar.what;
        if (bar.effect === "deny") throw forbidden(call, `${reason(call, bar.what)}.`);
        return withConsent(call, { rule: reason(call, bar.what), clock }, pass);
      },
    };
  },
};

/** What each caller has read. */
class ReadLog {
  readonly #forMs: number;
  readonly #by: Options["by"];
  readonly #clock: Clock;
  readonly #callers = new Lru<string, Reads>(MAX_CALLERS);

  constructor(forMs: number, by: Options["by"], clock: Clock) {
    this.#forMs = forMs;
    this.#by = by;
    this.#clock = clock;
  }

  note(call: Call, rules: readonly number[], what: string): void {
    const caller = this.#callerOf(call);
    const read: Reads = this.#callers.get(caller) ?? new Map();
    for (const rule of rules) read.set(rule, { until: this.#clock.now() + this.#forMs, what });
    this.#callers.set(caller, read);
  }

  /** Without expired reads. */
  of(call: Call): Reads | undefined {
    const read = this.#callers.get(this.#callerOf(call));
    for (const [rule, { until }] of read ?? []) if (until <= this.#clock.now()) read?.delete(rule);
    return read;
  }

  #callerOf({ origin }: Call): string {
    return JSON.stringify([
      origin.endpoint,
      this.#by === "session" ? sessionOf(origin) : origin.principal.id,
    ]);
  }
}

/** Any answer counts as read: a result, an error, a notification. */
async function noted(next: Handler, call: Call, note: () => void): Promise<Raw> {
  try {
    const result = await next({
      ...call,
      uplink: noting(call, note),
      task: notingTask(call.task, note),
      aside: (method, said) => {
        note();
        return call.aside ? call.aside(method, said) : said;
      },
    });
    note();
    return result;
  } catch (error) {
    if (!saysNothing(error)) note();
    throw error;
  }
}

/** The state of a task that still runs has a text of the server. */
function notingTask(task: Call["task"], note: () => void): Call["task"] {
  const taskRequest = task?.request;
  if (!task || !taskRequest) return task;
  return {
    ...task,
    request: {
      ...taskRequest,
      created(made) {
        note();
        taskRequest.created(made);
      },
      declined: () => taskRequest.declined(),
      changed(state) {
        note();
        taskRequest.changed(state);
      },
    },
  };
}

/** Notifications and questions of the child during the call count as read too. Those of inner layers do not. */
function noting({ uplink, permissions }: Call, note: () => void): Uplink {
  return {
    notify(...said) {
      if (!permissions?.isAsking) note();
      uplink.notify(...said);
    },
    request(...asked) {
      if (!permissions?.isAsking) note();
      return uplink.request(...asked);
    },
  };
}

/** Whether the call was refused before anything was read. */
function saysNothing(error: unknown): boolean {
  return MetaMcpError.is(error) && ["forbidden", "tool_not_found", "rate_limited"].includes(error.code);
}

function ruleOf({ from, to }: Pair, effect: Rule["effect"]): Rule {
  return { effect, from: placeTest(from), to: placeTest(to) };
}

function placeTest(place: Place): (tool: ToolFacts) => boolean {
  const tests = (typeof place === "string" ? [place] : place).map((one) => {
    if (one.startsWith("label:")) {
      const label = one.slice("label:".length);
      return (tool: ToolFacts) => tool.labels.includes(label);
    }
    const matches = compileGlob(one);
    return (tool: ToolFacts) => matches(qualifiedName(tool));
  });
  return (tool) => tests.some((test) => test(tool));
}
