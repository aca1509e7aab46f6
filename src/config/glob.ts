/** Globs over tool names: `*` matches any text, `?` any one character. Takes at most n·m steps. */
import type { ToolRules } from "./spec.ts";

export type Matcher = (text: string) => boolean;

export function compileGlob(pattern: string): Matcher {
  if (!/[*?]/.test(pattern)) return (text) => text === pattern;
  if (/^\*+$/.test(pattern)) return () => true;
  return (text) => matches(pattern, text);
}

/** Whether a glob matches every text that begins with `prefix`. In doubt false. */
export function matchesAllWith(pattern: string, prefix: string): boolean {
  return pattern.endsWith("*") && matches(pattern, prefix);
}

/** Whether a glob matches any text that begins with `prefix`. */
export function matchesSomeWith(pattern: string, prefix: string): boolean {
  for (let end = 0; end <= pattern.length; end++) if (matches(pattern.slice(0, end), prefix)) return true;
  return false;
}

/** Greedy. Backtracks only to the last star, because an earlier one cannot lead to another result. */
function matches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    // Checked before the literal case, because a star in the text must not consume a star of the pattern.
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

interface CompiledRules {
  readonly allow: readonly Matcher[] | undefined;
  readonly deny: readonly Matcher[];
  readonly ask: readonly Matcher[];
}

const compiled = new WeakMap<ToolRules, CompiledRules>();

function compile(rules: ToolRules): CompiledRules {
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

/** `deny` wins over `allow`. Without `allow` all tools are allowed, with an empty one none. */
export function permits(rules: ToolRules, tool: string): boolean {
  if (rules.deny.length === 0 && rules.allow === undefined) return true;
  const { allow, deny } = compile(rules);
  return !some(deny, tool) && (allow === undefined || some(allow, tool));
}

/** Whether a call needs the user's permission. */
export function mustAsk(rules: ToolRules, tool: string): boolean {
  return rules.ask.length > 0 && some(compile(rules).ask, tool);
}
