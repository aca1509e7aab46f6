/** One compiled rule of a policy: the principals and tools that it applies to, and its match with a call. */
import { compileGlob, matchesAllWith, matchesSomeWith } from "../../../config/glob.ts";
import type { Call } from "../../../kernel/call.ts";
import type { Principal, Tier } from "../../../kernel/principal.ts";
import { qualifiedName, type ToolFacts, tierOf } from "../../../kernel/tool-facts.ts";
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

/** How the arguments of a call match a rule that applies to it. */
export interface Match {
  /** The arguments match well enough to allow the call. */
  readonly allows: boolean;
  /** The arguments match well enough to deny the call or to ask. */
  readonly restricts: boolean;
  readonly missing?: string | undefined;
  /** The expression could not be evaluated. The call is denied, whatever the effect of the rule. */
  readonly failed?: string;
}

/** "claimed": the match is by a name that principals choose themselves. */
export type PrincipalMatch = boolean | "claimed";

export interface Rule {
  /** Counted from 1. */
  readonly number: number;
  readonly options: RuleOptions;
  readonly effect: Effect;
  /** It can be judged without a call, so it applies to lists too. */
  readonly listTime: boolean;
  /** It names no principals, so it applies to all. */
  readonly forAll: boolean;
  /** It matched by a name that principals choose themselves: it may restrict a call, but not allow it. */
  readonly claimed?: true;
  forWhom(principal: Principal): PrincipalMatch;
  forTool(tool: ToolFacts): boolean;
  /** Whether it applies to every tool that the server may have, to some, or to none. */
  forServer(server: ToolFacts): "all" | "some" | "none";
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
    forWhom: matchPrincipal(who),
    forTool(tool) {
      const name = qualifiedName(tool);
      return (
        (globs?.some((matches) => matches(name)) ?? true) &&
        (tiers?.includes(tierOf(tool.annotations)) ?? true) &&
        (labels?.some((label) => tool.labels.includes(label)) ?? true)
      );
    },
    forServer(server) {
      const prefix = qualifiedName({ ...server, name: "" });
      if (labels && !labels.some((label) => server.labels.includes(label))) return "none";
      if (tools && !tools.some((glob) => matchesSomeWith(glob, prefix))) return "none";
      const every = !tiers && (tools?.some((glob) => matchesAllWith(glob, prefix)) ?? true);
      return every ? "all" : "some";
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

/** All given fields must match; of a field, one value is enough. */
function matchPrincipal({ roles, groups, users, keys }: Who): (principal: Principal) => PrincipalMatch {
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

function isUser(people: ReadonlySet<string>, { kind, id, name, claimed }: Principal): PrincipalMatch {
  if (kind === "key") return false;
  if (people.has(plain(id))) return true;
  if (name === undefined || !people.has(plain(name))) return false;
  return claimed ? "claimed" : true;
}

/**
 * The owner of a key chooses its name, so such a name is only claimed. Keys without owner are named by
 * administrators.
 */
function isKey(keys: readonly string[], { kind, id, name, key }: Principal): PrincipalMatch {
  if (named(keys, kind === "key" ? [id, name, key?.id, key?.name] : [key?.id])) return true;
  return named(keys, [key?.name]) ? "claimed" : false;
}

function named(list: readonly string[], values: readonly (string | undefined)[]): boolean {
  return values.some((value) => value !== undefined && list.includes(value));
}

/** E-mail addresses are compared without case. */
function plain(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
