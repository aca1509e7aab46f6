/** What a policy says of a call. Deny wins, then approve, ask, allow; what nothing allows is left to the default. */
import type { Call } from "../../../kernel/call.ts";
import type { Effect, Match, Rule } from "./rule.ts";

export interface PolicyVerdict {
  readonly effect: Effect;
  /** Denied whatever the arguments: it does not exist for the caller. */
  readonly outright: boolean;
  readonly rule: Rule | undefined;
  readonly reason: string;
}

/** Without a call: undefined where some call could pass. `speaking`: the rules for who asks and for the tool. */
export function deniedOutright(
  speaking: readonly Rule[],
  fallback: "allow" | "deny",
): PolicyVerdict | undefined {
  const denied = speaking.find(({ effect, listTime }) => effect === "deny" && listTime);
  if (denied) return denial(denied, true, `rule ${denied.number} denies it`);
  const passable = fallback === "allow" || speaking.some(canAllow);
  return passable ? undefined : denial(undefined, true, "no rule allows it");
}

function canAllow({ effect, claimed }: Rule): boolean {
  return effect !== "deny" && !claimed;
}

/** Whoever asks: a rule that names somebody denies for them alone, and may allow for them. `speaking`: the rules for the tool. */
export function deniedToAll(
  speaking: readonly Rule[],
  fallback: "allow" | "deny",
): PolicyVerdict | undefined {
  const denied = speaking.find(({ effect, listTime, forAll }) => effect === "deny" && listTime && forAll);
  if (denied) return denial(denied, true, `rule ${denied.number} denies it`);
  const passable = fallback === "allow" || speaking.some(({ effect }) => effect !== "deny");
  return passable ? undefined : denial(undefined, true, "no rule allows it");
}

export function verdictOf(
  speaking: readonly Rule[],
  fallback: "allow" | "deny",
  call: Call,
  args: () => Readonly<Record<string, unknown>>,
): PolicyVerdict {
  const outright = deniedOutright(speaking, fallback);
  if (outright) return outright;
  const matches = speaking.map((rule) => ({ rule, match: rule.match(call, args) }));
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
  // A yes that some value needs is needed for all of the call.
  for (const effect of ["approve", "ask"] as const) {
    const gate = matches.find(
      ({ rule, match }) => rule.effect === effect && (match.allows || match.restricts),
    );
    if (gate) return { effect, outright: false, rule: gate.rule, reason: `rule ${gate.rule.number}` };
  }
  const by = allowing ? `rule ${allowing.rule.number} allows it` : "allowed by default";
  return { effect: "allow", outright: false, rule: allowing?.rule, reason: by };
}

/** What cannot be judged does not pass. */
export const UNKNOWN_TOOL = denial(undefined, true, "the tool is unknown");

/** Where no rule speaks of a call, which is so of most. */
export const UNRULED: Readonly<Record<"allow" | "deny", PolicyVerdict>> = {
  allow: { effect: "allow", outright: false, rule: undefined, reason: "allowed by default" },
  deny: denial(undefined, true, "no rule allows it"),
};

function denial(rule: Rule | undefined, outright: boolean, reason: string): PolicyVerdict {
  return { effect: "deny", outright, rule, reason };
}

function missingIn({ missing }: Match): string {
  return missing === undefined ? "" : ` ("${missing}" is missing)`;
}
