/** Who and which tools the rules of a policy name. Says nothing about arguments: those belong to a call. */
import type { Principal } from "../kernel/principal.ts";
import type { ToolFacts } from "../kernel/tool-facts.ts";
import { compileRule, type RuleOptions } from "../middleware/layers/policy/rule.ts";

export interface RuleMatches<Who> {
  readonly tools: readonly ToolFacts[];
  readonly who: readonly Who[];
}

/** One for each rule. The rules must have been checked. */
export function matchesOf<Who extends { readonly principal: Principal }>(
  rules: readonly RuleOptions[],
  tools: readonly ToolFacts[],
  callers: readonly Who[],
): readonly RuleMatches<Who>[] {
  return rules.map(({ when: _when, args: _args, ...named }, at) => {
    const rule = compileRule(named, at);
    return {
      tools: tools.filter((tool) => rule.forTool(tool)),
      who: callers.filter(({ principal }) => rule.forWhom(principal) !== false),
    };
  });
}
