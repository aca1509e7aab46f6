/** Patterns over tool names: `*` is any text, `?` any one character, all else itself. Never backtracks more than n·m steps. */
import type { ToolRules } from "./spec.ts";

export type Matcher = (text: string) => boolean;

export function compileGlob(pattern: string): Matcher {
  if (!/[*?]/.test(pattern)) return (text) => text === pattern;
  if (/^\*+$/.test(pattern)) return () => true;
  return (text) => matches(pattern, text);
}

/** Greedy, going back to the last star only: an earlier one can never help. */
function matches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    // Before the literal case: a star in the text must not use up a star in the pattern.
    if (pattern[p] === "*") {
      star = p++;
      resume = t;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++resume;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

interface Compiled {
  readonly allow: readonly Matcher[] | undefined;
  readonly deny: readonly Matcher[];
  readonly ask: readonly Matcher[];
}

const compiled = new WeakMap<ToolRules, Compiled>();

function compile(rules: ToolRules): Compiled {
  let made = compiled.get(rules);
  if (!made) {
    made = {
      allow: rules.allow?.map(compileGlob),
      deny: rules.deny.map(compileGlob),
      ask: rules.ask.map(compileGlob),
    };
    compiled.set(rules, made);
  }
  return made;
}

function some(matchers: readonly Matcher[], tool: string): boolean {
  for (const matcher of matchers) if (matcher(tool)) return true;
  return false;
}

/** Deny wins; no `allow` allows all, an empty one none. */
export function permits(rules: ToolRules, tool: string): boolean {
  if (rules.deny.length === 0 && rules.allow === undefined) return true;
  const { allow, deny } = compile(rules);
  return !some(deny, tool) && (allow === undefined || some(allow, tool));
}

/** Whether a person has to agree first. */
export function mustAsk(rules: ToolRules, tool: string): boolean {
  return rules.ask.length > 0 && some(compile(rules).ask, tool);
}
