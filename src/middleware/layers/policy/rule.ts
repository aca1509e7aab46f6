/** One rule of a policy, compiled: for whom and which tools it speaks, and what it says of a call. */
import { compileGlob } from "../../../config/glob.ts";
import type { Call } from "../../../kernel/call.ts";
import type { Principal, Tier } from "../../../kernel/principal.ts";
import { placeOf, type ToolFacts, tierOf } from "../../../kernel/tool-facts.ts";
import type { Approvers } from "../../approvals.ts";
import { type ArgumentJudge, type ArgumentRule, compileArguments } from "./argument-rules.ts";
import { compileExpression, type Expression } from "./expression.ts";

export type Effect = "allow" | "deny" | "ask" | "approve";

export interface RuleOptions {
  readonly who?: Who;
  readonly tools?: readonly string[];
  readonly tiers?: readonly Tier[];
  readonly labels?: readonly string[];
  readonly args?: Readonly<Record<string, ArgumentRule>>;
  readonly when?: string;
  readonly effect: Effect;
  readonly by?: Approvers;
  readonly withinMs?: unknown;
}

interface Who {
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
  readonly users?: readonly string[];
  readonly keys?: readonly string[];
}

/** What the arguments of a call say to a rule that speaks for it. */
export interface Match {
  /** Enough to allow by it. */
  readonly allows: boolean;
  /** Enough to deny by it, or to ask first. */
  readonly restricts: boolean;
  readonly missing?: string | undefined;
  /** Its expression could not be told: that denies, whatever the effect. */
  readonly failed?: string;
}

/** "claimed": by a name that anybody can give themselves. */
export type Meant = boolean | "claimed";

export interface Rule {
  /** From 1, as people count. */
  readonly number: number;
  readonly options: RuleOptions;
  readonly effect: Effect;
  /** It can be judged without a call: lists are shaped by it. */
  readonly listTime: boolean;
  /** Names nobody: it speaks for all. */
  readonly forAll: boolean;
  /** It speaks for them, and may restrict them, but allows them nothing: by a name that anybody can give themselves. */
  readonly claimed?: true;
  forWhom(principal: Principal): Meant;
  forTool(tool: ToolFacts): boolean;
  match(call: Call, args: () => Readonly<Record<string, unknown>>): Match;
}

const ALWAYS: Match = { allows: true, restricts: true };
const NEVER: Match = { allows: false, restricts: false };

export function compileRule(options: RuleOptions, at: number): Rule {
  const { who = {}, tools, tiers, labels, args, when, effect } = options;
  const globs = tools?.map(compileGlob);
  const judge = args && compileArguments(args);
  const expression = when === undefined ? undefined : compileExpression(when);
  return {
    number: at + 1,
    options,
    effect,
    listTime: !judge && !expression,
    forAll: Object.keys(who).length === 0,
    forWhom: meaning(who),
    forTool(tool) {
      const place = placeOf(tool);
      return (
        (globs?.some((matches) => matches(place)) ?? true) &&
        (tiers?.includes(tierOf(tool.annotations)) ?? true) &&
        (labels?.some((label) => tool.labels.includes(label)) ?? true)
      );
    },
    match: (call, given) => (judge || expression ? matchOf(call, given(), judge, expression) : ALWAYS),
  };
}

function matchOf(
  call: Call,
  args: Readonly<Record<string, unknown>>,
  judge: ArgumentJudge | undefined,
  expression: Expression | undefined,
): Match {
  const { all, any, missing } = judge?.(args) ?? { all: true, any: true, missing: undefined };
  if (!all && !any) return { ...NEVER, missing };
  try {
    if (expression && !expression(call, args)) return { ...NEVER, missing };
  } catch (error) {
    return {
      ...NEVER,
      failed:
        String((error as Error).message)
          .split("\n", 1)[0]
          ?.slice(0, 200) ?? "",
    };
  }
  return { allows: all, restricts: any, missing };
}

/** Any value within one field, all fields that are given. */
function meaning({ roles, groups, users, keys }: Who): (principal: Principal) => Meant {
  const people = users && new Set(users.map(plain));
  return (principal) => {
    if (roles && !named(roles, principal.roles)) return false;
    if (groups && !named(groups, principal.groups)) return false;
    const user = !people || isUser(people, principal);
    const key = !keys || isKey(keys, principal);
    if (!user || !key) return false;
    return user === "claimed" || key === "claimed" ? "claimed" : true;
  };
}

function isUser(people: ReadonlySet<string>, { kind, id, name, claimed }: Principal): Meant {
  if (kind === "key") return false;
  if (people.has(plain(id))) return true;
  if (name === undefined || !people.has(plain(name))) return false;
  return claimed ? "claimed" : true;
}

/** Who owns a key gives it its name: only what administrators call a key of nobody says which it is. */
function isKey(keys: readonly string[], { kind, id, name, key }: Principal): Meant {
  if (named(keys, kind === "key" ? [id, name, key?.id, key?.name] : [key?.id])) return true;
  return named(keys, [key?.name]) ? "claimed" : false;
}

function named(list: readonly string[], values: readonly (string | undefined)[]): boolean {
  return values.some((value) => value !== undefined && list.includes(value));
}

/** Addresses are the same however they are written. */
function plain(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
