/**
 * Layer `flow`: after a call returned data from one place, calls of the same caller to another place are
 * refused for a time.
 */
import { compileGlob } from "../../config/glob.ts";
import type { Call, Handler, Uplink } from "../../kernel/call.ts";
import { MetaMcpError, mayHaveRun } from "../../kernel/errors.ts";
import { perObject } from "../../kernel/per-object.ts";
import type { Raw } from "../../kernel/raw.ts";
import { qualifiedName, type ToolFacts } from "../../kernel/tool-facts.ts";
import { INTERNAL_ERROR, RpcError } from "../../rpc/rpc-error.ts";
import { withConsent } from "../consent.ts";
import { sessionOf } from "../count-by.ts";
import type { LayerKind } from "../layer.ts";
import { hashOf, ReadLog, type ReadRule } from "../read-log.ts";
import { forbidden, toolOf } from "../refusals.ts";
import { withTaskRequest } from "../task-request.ts";
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
  /** The same for the same `from` in the same object, at every gateway. */
  readonly key: string;
  readonly effect: "deny" | "ask";
  readonly from: (tool: ToolFacts) => boolean;
  readonly to: (tool: ToolFacts) => boolean;
}
interface Bar {
  readonly effect: Rule["effect"];
  /** What was read. */
  readonly what: string;
}
/** Notes the read. Nothing of it may leave before the promise resolves. */
type Note = () => Promise<void> | undefined;

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
      deny: { ...PAIRS, description: "refuse calls to `to` after data was read from `from`" },
      ask: { ...PAIRS, description: "ask the user before such calls" },
      by: {
        enum: ["principal", "session"],
        default: "principal",
        description: "whose reads count: those of the caller, or of the session only",
      },
      forMs: {
        ...TIME,
        default: 3_600_000,
        description: `how long a read counts: ${TIME.description}`,
      },
    },
    anyOf: [{ required: ["deny"] }, { required: ["ask"] }],
  },
  check: (options) => timeProblems(options, ["forMs"]),
  compile(given, { clock, place = "", reads }) {
    const { deny = [], ask = [], by, forMs } = given as unknown as Options;
    const keyOf = ({ from }: Pair): string => hashOf(place, by, from);
    const rules = [
      ...deny.map((pair) => ruleOf(pair, keyOf(pair), "deny")),
      ...ask.map((pair) => ruleOf(pair, keyOf(pair), "ask")),
    ];
    const log = new ReadLog(msOf(forMs), clock, reads);
    /** The rules that name the tool as source, and those that name it as destination. */
    const placesOf = perObject((tool: ToolFacts) => ({
      from: [...new Set(rules.flatMap(({ from, key }) => (from(tool) ? [key] : [])))],
      to: rules.filter(({ to }) => to(tool)),
    }));
    const callerOf = ({ origin }: Call): string =>
      JSON.stringify([origin.endpoint, by === "session" ? sessionOf(origin) : origin.principal.id]);
    const barred = (call: Call, to: readonly Rule[]): Bar | undefined | Promise<Bar | undefined> => {
      if (to.length === 0) return undefined;
      const found = log.find(
        callerOf(call),
        to.map(({ key }) => key),
      );
      const barOf = (read: ReadRule | undefined): Bar | undefined => {
        const rule = read && to.find(({ key }) => key === read.rule);
        return rule && { effect: rule.effect, what: read.what };
      };
      if (!(found instanceof Promise)) return barOf(found);
      return found.then(barOf, (error: unknown) => {
        throw unknownReads(call, error);
      });
    };
    const reason = (call: Call, what: string): string => `${toolOf(call)} may not run after ${what} was read`;
    const pass = (next: Handler, from: readonly string[], what: string) => (call: Call) => {
      if (from.length === 0) return next(call);
      const caller = callerOf(call);
      if (!log.canNote(caller, from)) throw unnoted(call, "Nothing was done.");
      return noted(next, call, () => log.note(caller, from, what));
    };
    return {
      gates: (tool) => (rules.some(({ to }) => to(tool)) ? "refused after certain data was read" : undefined),
      async explain(call) {
        const bar = call.facts && (await barred(call, placesOf(call.facts).to));
        return bar && { effect: bar.effect, reason: reason(call, bar.what) };
      },
      call: (next) => (call) => {
        const { facts } = call;
        if (!facts) throw forbidden(call, "The tool is unknown, so its data cannot be kept apart.");
        const { from, to } = placesOf(facts);
        const name = qualifiedName(facts);
        const passed = pass(next, from, name);
        const passing = (made: Call): Promise<Raw> => {
          if (to.length === 0 || isDeaf(made)) return passed(made);
          // What the call itself said is no reason to leave its own question unanswered.
          const readSince = async (): Promise<boolean> => ((await barred(made, to))?.what ?? name) !== name;
          return passed({ ...made, uplink: answering(made, readSince) });
        };
        const judged = (bar: Bar | undefined): Promise<Raw> => {
          if (!bar) return passing(call);
          if (call.trail) call.trail.read = bar.what;
          if (bar.effect === "deny") throw forbidden(call, `${reason(call, bar.what)}.`);
          return withConsent(call, { rule: reason(call, bar.what), clock }, passing);
        };
        const bar = barred(call, to);
        return bar instanceof Promise ? bar.then(judged) : judged(bar);
      },
    };
  },
};

function unknownReads({ facts }: Call, cause: unknown): MetaMcpError {
  return new MetaMcpError(
    "server_unavailable",
    "The store of the gateway does not answer, so it is not known what was read before. Nothing was done.",
    { ...(facts && { server: facts.server }), cause },
  );
}

function unnoted({ facts }: Call, end: string, retryable = true): MetaMcpError {
  return new MetaMcpError(
    "server_unavailable",
    `The store of the gateway does not answer, and what is read here must be noted. ${end}`,
    { ...(facts && { server: facts.server }), retryable },
  );
}

/** Any answer counts as read: a result, an error, a notification. What cannot be noted is withheld. */
async function noted(next: Handler, call: Call, note: Note): Promise<Raw> {
  const outbox = new Outbox(note);
  const before = async (): Promise<void> => {
    try {
      await note();
      await outbox.sent;
    } catch {
      const end = `Its answer is withheld. ${mayHaveRun(call.repeat)}`;
      throw unnoted(call, end, call.repeat === "safe");
    }
  };
  let result: Raw;
  try {
    result = await next({
      ...call,
      uplink: noting(call, note, outbox),
      task: notingTask(call.task, outbox),
      aside: (method, said) => {
        const passOn = () => (call.aside ? call.aside(method, said) : said);
        const waiting = note();
        return waiting ? waiting.then(passOn) : passOn();
      },
    });
  } catch (error) {
    if (!saysNothing(error)) await before();
    throw error;
  }
  await before();
  return result;
}

/** Sends messages of a call in their order, each once the read is noted. */
class Outbox {
  readonly #note: Note;
  /** Resolves when everything so far was sent or is withheld; undefined if nothing waits. */
  sent: Promise<void> | undefined;

  constructor(note: Note) {
    this.#note = note;
  }

  send(send: () => void): void {
    const waiting = this.#note();
    if (!waiting && !this.sent) {
      send();
      return;
    }
    const sent = Promise.all([waiting, this.sent])
      .then(send)
      .catch(() => {})
      .finally(() => {
        if (this.sent === sent) this.sent = undefined;
      });
    this.sent = sent;
  }
}

/** The state of a task that still runs has a text of the server. */
function notingTask(task: Call["task"], outbox: Outbox): Call["task"] {
  return withTaskRequest(task, (asked) => ({
    created({ refresh, ...made }) {
      outbox.send(() =>
        asked.created({
          ...made,
          async refresh() {
            await refresh();
            await outbox.sent;
          },
        }),
      );
    },
    changed(state) {
      outbox.send(() => asked.changed(state));
    },
  }));
}

/**
 * Notifications and questions of the child during the call count as read too. Those of inner layers do not.
 */
function noting({ uplink, permissions }: Call, note: Note, outbox: Outbox): Uplink {
  return {
    notify(...said) {
      if (permissions?.isAsking) uplink.notify(...said);
      else outbox.send(() => uplink.notify(...said));
    },
    request(...asked) {
      const waiting = permissions?.isAsking ? undefined : note();
      return waiting ? waiting.then(() => uplink.request(...asked)) : uplink.request(...asked);
    },
  };
}

/** A client without capabilities is never asked. */
function isDeaf({ origin }: Call): boolean {
  return origin.capabilities.length <= 2;
}

/**
 * The answer to a question of the child goes to it like an argument, but may come long after the call was
 * judged: it is withheld if the caller has read something since that may not go there.
 */
function answering({ uplink, permissions }: Call, readSince: () => Promise<boolean>): Uplink {
  const refuse = (): never => {
    throw RpcError.of(INTERNAL_ERROR, "a rule keeps data apart, so the answer is not passed on");
  };
  return {
    notify: (...said) => uplink.notify(...said),
    async request(...asked) {
      if (permissions?.isAsking) return await uplink.request(...asked);
      if (await readSince()) refuse();
      const answer = await uplink.request(...asked);
      return (await readSince()) ? refuse() : answer;
    },
  };
}

/** Whether the call was refused before anything was read. */
function saysNothing(error: unknown): boolean {
  return MetaMcpError.is(error) && ["forbidden", "tool_not_found", "rate_limited"].includes(error.code);
}

function ruleOf({ from, to }: Pair, key: string, effect: Rule["effect"]): Rule {
  return { key, effect, from: placeTest(from), to: placeTest(to) };
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
