/**
 * The verdict of a policy on a call. Deny wins, then approve, ask, allow. If no rule allows the call, the
 * default decides.
 */
import type { Call } from "../../../kernel/call.ts";
import type { Effect, Match, Rule } from "./rule.ts";

export interface PolicyVerdict {
  readonly effect: Effect;
  /** Denied with any arguments, so the tool does not exist for the caller. */
  readonly outright: boolean;
  readonly rule: Rule | undefined;
  readonly reason: string;
}

/**
 * The denial of all calls of a tool; undefined if some call could pass. `applicable`: the rules for this
 * principal and tool.
 */
export function deniedOutright(
  applicable: readonly Rule[],
  fallback: "allow" | "deny",
): PolicyVerdict | undefined {
  const denied = applicable.find(({ effect, listTime }) => effect === "deny" && listTime);
  if (denied) return denial(denied, true, `rule ${denied.number} denies it`);
  const passable = fallback === "allow" || applicable.some(canAllow);
  return passable ? undefined : denial(undefined, true, "no rule allows it");
}

function canAllow({ effect, claimed }: Rule): boolean {
  return effect !== "deny" && !claimed;
}

/**
 * The denial of a tool for all principals. A rule that names principals denies only for them, and may allow
 * for them. `applicable`: the rules for this tool.
 */
export function deniedToAll(
  applicable: readonly Rule[],
  fallback: "allow" | "deny",
): PolicyVerdict | undefined {
  const denied = applicable.find(({ effect, listTime, forAll }) => effect === "deny" && listTime && forAll);
  if (denied) return denial(denied, true, `rule ${denied.number} denies it`);
  const passable = fallback === "allow" || applicable.some(({ effect }) => effect !== "deny");
  return passable ? undefined : denial(undefined, true, "no rule allows it");
}

export function verdictOf(
  applicable: readonly Rule[],
  fallback: "allow" | "deny",
  call: Call,
  args: () => Readonly<Record<string, unknown>>,
): PolicyVerdict {
  const outright = deniedOutright(applicable, fallback);
  if (outright) return outright;
  const matches = applicable.map((rule) => ({ rule, match: rule.match(call, args) }));
  for (const { rule, match } of matches) {
    if (match.failed !== undefined)
      return denial(rule, false, `rule ${rule.number} cannot be checked: ${match.failed}`);
    if (rule.effect === "deny" && match.restricts)
      return denial(rule, false, `rule ${rule.number} denies these arguments${missingIn(match)}`);
  }
  const allowing = matches.find(({ rule, match }) => canAllow(rule) && match.allows);
  if (!allowing && fallback === "deny") {
    const missing = matches.find(({ match }) => match.missing !== undefined)?.match;
    return denial(undefined, false, `no rule allows these arguments${missing ? missingIn(missing) : ""}`);
  }
  // If one value needs a permission, the whole call needs it.
  for (const effect of ["approve", "ask"] as const) {
    const gate = matches.find(
      ({ rule, match }) => rule.effect === effect && (match.allows || match.restricts),
    );
    if (gate) return { effect, outright: false, rule: gate.rule, reason: `rule ${gate.rule.number}` };
  }
  const by = allowing ? `rule ${allowing.rule.number} allows it` : "allowed by default";
  return { effect: "allow", outright: false, rule: allowing?.rule, reason: by };
}

/** A tool without facts cannot be judged, so it is denied. */
export const UNKNOWN_TOOL = denial(undefined, true, "the tool is unknown");

/** The verdict if no rule applies. Constant, because that is the common case. */
export const DEFAULT_VERDICT: Readonly<Record<"allow" | "deny", PolicyVerdict>> = {
  allow: { effect: "allow", outright: false, rule: undefined, reason: "allowed by default" },
  deny: denial(undefined, true, "no rule allows it"),
};

function denial(rule: Rule | undefined, outright: boolean, reason: string): PolicyVerdict {
  return { effect: "deny", outright, rule, reason };
}

function missingIn({ missing }: Match): string {
  return missing === undefined ? "" : ` ("${missing}" is missing)`;
}
