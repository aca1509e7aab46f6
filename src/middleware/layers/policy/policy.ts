/**
 * Layer `policy`: allows, denies or asks, by caller, tool and arguments. Rules without arguments also apply
 * to lists: a tool that they deny does not exist for the caller.
 */
import { OutOfTime, withinTime } from "../../../catalog/within-time.ts";
import type { Call } from "../../../kernel/call.ts";
import type { FieldProblem } from "../../../kernel/field-problem.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import { isOtherMethod } from "../../../kernel/methods.ts";
import { perObject } from "../../../kernel/per-object.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw } from "../../../kernel/raw.ts";
import type { ToolFacts } from "../../../kernel/tool-facts.ts";
import { hasManyValues } from "../../../rpc/many-values.ts";
import { repeatedKey } from "../../../rpc/repeated-key.ts";
import { member } from "../../../rpc/slice.ts";
import { approvalOf } from "../../approvals.ts";
import { withConsent } from "../../consent.ts";
import { GLOBS } from "../../globs.ts";
import type { Layer, LayerKind } from "../../layer.ts";
import { withPermission } from "../../permission.ts";
import { forbidden, notPermitted, toolNotFound, toolOf } from "../../refusals.ts";
import { msOf, TIME, timeProblems } from "../../times.ts";
import { expressionProblem, loadExpressions } from "./expression.ts";
import { compileRule, type Rule, type RuleOptions } from "./rule.ts";
import {
  DEFAULT_VERDICT,
  deniedOutright,
  deniedToAll,
  type PolicyVerdict,
  UNKNOWN_TOOL,
  verdictOf,
} from "./verdict.ts";

interface Options {
  readonly rules: readonly RuleOptions[];
  readonly default: "allow" | "deny";
}

const DEFAULT_WITHIN_MS = 600_000;
const TEXTS = { type: "array", items: { type: "string", minLength: 1 }, maxItems: 1_000 } as const;
const LONGEST_EXPRESSION = 2_000;
/** Larger arguments are checked with a time limit. */
const SMALL_BYTES = 1_024;
const JUDGE_MS = 250;

const ARGUMENT = {
  type: "object",
  properties: {
    in: { type: "array", minItems: 1, maxItems: 1_000 },
    max: { type: "number" },
    min: { type: "number" },
    glob: { anyOf: [{ type: "string" }, TEXTS], description: "a glob, or a list of them" },
  },
  additionalProperties: false,
  minProperties: 1,
} as const;

const RULE = {
  type: "object",
  properties: {
    who: {
      type: "object",
      properties: { roles: TEXTS, groups: TEXTS, users: TEXTS, keys: TEXTS },
      additionalProperties: false,
    },
    tools: GLOBS,
    tiers: { type: "array", items: { enum: ["readOnly", "write", "destructive"] } },
    labels: TEXTS,
    args: { type: "object", additionalProperties: ARGUMENT, minProperties: 1 },
    when: { type: "string", minLength: 1, maxLength: LONGEST_EXPRESSION },
    effect: { enum: ["allow", "deny", "ask", "approve"] },
    by: {
      type: "object",
      properties: { roles: TEXTS, groups: TEXTS },
      additionalProperties: false,
    },
    withinMs: TIME,
  },
  required: ["effect"],
  additionalProperties: false,
} as const;

export const policy: LayerKind = {
  summary: "Allow, deny, ask or require an approval, depending on caller, tool and arguments.",
  guards: true,
  schema: {
    properties: {
      rules: { type: "array", items: RULE, maxItems: 1_000, description: "the strongest effect wins" },
      default: { enum: ["allow", "deny"], default: "deny", description: "if no rule matches" },
    },
    required: ["rules"],
  },
  load: (options) =>
    rulesOf(options).some(({ when }) => when !== undefined) ? loadExpressions() : undefined,
  check: (options) => rulesOf(options).flatMap((rule, at) => ruleProblems(rule, `/rules/${at}`)),
  compile(given, { clock, approvals }) {
    const options = given as unknown as Options;
    const rules = options.rules.map(compileRule);
    const fallback = options.default;
    const forTool = (tool: ToolFacts): readonly Rule[] => rules.filter((rule) => rule.forTool(tool));
    const known = perObject(forTool);
    const judge = (call: Call): PolicyVerdict => {
      const { facts, origin, params } = call;
      if (!facts) return UNKNOWN_TOOL;
      const applicable = rulesFor(known(facts), origin.principal);
      if (applicable.length === 0) return DEFAULT_VERDICT[fallback];
      const verdict = () => verdictOf(applicable, fallback, call, argumentsOf(call));
      return params.length > SMALL_BYTES && applicable.some(({ listTime }) => !listTime)
        ? inTime(call, verdict)
        : verdict();
    };
    return {
      list: {
        keyOf: (principal) => rules.map((rule) => String(rule.forWhom(principal))[0]).join(""),
        hides: (tool, principal) => deniedOutright(rulesFor(forTool(tool), principal), fallback)?.reason,
        hidesServer(server, principal) {
          const applicable = rulesFor(rules, principal);
          const denied = applicable.some(
            (rule) => rule.effect === "deny" && rule.listTime && rule.forServer(server) === "all",
          );
          const possible = applicable.filter((rule) => rule.forServer(server) !== "none");
          return denied || (fallback === "deny" && possible.every(({ effect }) => effect === "deny"));
        },
        hidesFromAll: (tool) => deniedToAll(forTool(tool), fallback)?.reason,
      },
      ...denyBuiltin(rules),
      call: (next) => (call) => {
        // Prompts and resources are hidden with the tools of their server, so they need no check here.
        const other = isOtherMethod(call.method);
        if (call.method !== "tools/call" && !other) return next(call);
        const { effect, outright, reason, rule } = judge(call);
        if (effect === "allow") return next(call);
        if (other) return Promise.reject(notPermitted(call));
        if (effect === "deny")
          return Promise.reject(
            outright ? toolNotFound(reason) : forbidden(call, `${toolOf(call)}: ${reason}.`),
          );
        if (effect === "ask") return withConsent(call, { rule: `policy, ${reason}`, clock }, next);
        if (!approvals)
          return Promise.reject(
            forbidden(call, `${toolOf(call)} needs an approval, but nobody can approve it here.`),
          );
        const { by = {}, withinMs = DEFAULT_WITHIN_MS } = rule?.options ?? {};
        const terms = { by, withinMs: msOf(withinMs), reason: `policy, ${reason}` };
        const ask = (): Promise<void> => approvals.wait(call, terms);
        return withPermission(call, { permission: approvalOf(call, by), ask }, next);
      },
      gates(tool, principal) {
        const applicable = principal === undefined ? forTool(tool) : rulesFor(forTool(tool), principal);
        if (principal === undefined && applicable.some(({ forAll }) => !forAll)) return "depends on who asks";
        const open = fallback === "allow" || applicable.some((one) => one.effect !== "deny" && one.listTime);
        const gates = applicable.filter(({ effect }) => effect !== "allow" || !open);
        return gates.length > 0 ? gates.map(gateText).join(", ") : undefined;
      },
      explain(call) {
        if (call.method !== "tools/call" && !isOtherMethod(call.method)) return undefined;
        const { effect, reason, outright } = judge(call);
        return { effect, reason, ...(outright && { code: "tool_not_found" as const }) };
      },
    };
  },
};

function rulesFor(rules: readonly Rule[], principal: Principal): readonly Rule[] {
  const applicable: Rule[] = [];
  for (const rule of rules) {
    const meant = rule.forWhom(principal);
    if (meant) applicable.push(meant === "claimed" ? { ...rule, claimed: true } : rule);
  }
  return applicable;
}

function rulesOf(options: Readonly<Record<string, unknown>>): readonly RuleOptions[] {
  return options["rules"] as readonly RuleOptions[];
}

function ruleProblems(rule: RuleOptions, path: string): readonly FieldProblem[] {
  const { when, effect, by, withinMs } = rule;
  const wrong = when === undefined ? undefined : expressionProblem(when);
  const problems: FieldProblem[] = timeProblems({ withinMs }, ["withinMs"]).map((problem) => ({
    ...problem,
    path: path + problem.path,
  }));
  if (wrong) problems.push({ path: `${path}/when`, message: wrong });
  if (effect !== "approve" && (by !== undefined || withinMs !== undefined))
    problems.push({
      path: `${path}/${by ? "by" : "withinMs"}`,
      message: 'is only for the effect "approve"',
    });
  return problems;
}

function gateText({ number, effect }: Rule): string {
  switch (effect) {
    case "approve":
      return `rule ${number}: somebody else must approve`;
    case "ask":
      return `rule ${number}: the user of the client is asked`;
    case "deny":
      return `rule ${number}: some arguments are denied`;
    case "allow":
      return `rule ${number}: only some arguments are allowed`;
  }
}

/** Refuses the call if the check takes too long. */
function inTime(call: Call, verdict: () => PolicyVerdict): PolicyVerdict {
  try {
    return withinTime(JUDGE_MS, verdict);
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    throw forbidden(call, `${toolOf(call)}: these arguments take too long to check.`);
  }
}

/** Parses the arguments once, and only if a rule needs them. */
function argumentsOf(call: Call): () => Readonly<Record<string, unknown>> {
  let read: Readonly<Record<string, unknown>> | undefined;
  return () => {
    if (!read) {
      const args = isOtherMethod(call.method)
        ? call.params
        : (member(call.params, "arguments") ?? EMPTY_OBJECT);
      if (hasManyValues(args)) throw forbidden(call, "The arguments have too many values to check.");
      const twice = repeatedKey(args);
      if (twice !== undefined) throw forbidden(call, `The arguments contain "${twice.slice(0, 64)}" twice.`);
      const value = fromRaw(args);
      read = isRecord(value) ? value : {};
    }
    return read;
  };
}

/**
 * Our own tools are denied only by rules with a glob that begins with `metamcp:`. `*` matches only tools of
 * servers.
 */
function denyBuiltin(rules: readonly Rule[]): Pick<Layer, "hidesOwn"> {
  const naming = rules.filter(
    ({ effect, listTime, options }) =>
      effect === "deny" && listTime && options.tools?.some((glob) => glob.startsWith("metamcp:")),
  );
  if (naming.length === 0) return {};
  return {
    hidesOwn: (tool, principal) =>
      naming.some((rule) => rule.forWhom(principal) !== false && rule.forTool(tool)),
  };
}
