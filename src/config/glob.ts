/** Globs over tool names: `*` matches any text, `?` any one character. Takes at most n·m steps. */
import { perObject } from "../kernel/per-object.ts";
import type { ToolRules } from "./spec.ts";

export type Matcher = (text: string) => boolean;

export function compileGlob(pattern: string): Matcher {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return (text) => text.length === first.length && isAt(first, text, 0);
  const between = others.filter((part) => part !== "");
  return (text) => {
    const end = text.length - last.length;
    if (end < first.length || !isAt(first, text, 0) || !isAt(last, text, end)) return false;
    // The earliest place of each part leaves the most text for the parts after it.
    let at = first.length;
    for (const part of between) {
      at = find(part, text, at);
      if (at < 0) return false;
      at += part.length;
    }
    return at <= end;
  };
}

/** Whether the part of a pattern, which has no star, matches the text at this position. */
function isAt(part: string, text: string, at: number): boolean {
  if (!part.includes("?")) return text.startsWith(part, at);
  for (let k = 0; k < part.length; k++) if (part[k] !== "?" && part[k] !== text[at + k]) return false;
  return true;
}

/** The first position of the part from `at` on; -1 if there is none. */
function find(part: string, text: string, at: number): number {
  if (!part.includes("?")) return text.indexOf(part, at);
  for (; at + part.length <= text.length; at++) if (isAt(part, text, at)) return at;
  return -1;
}

/** Whether a glob matches every text that begins with `prefix`. In doubt false. */
export function matchesAllWith(pattern: string, prefix: string): boolean {
  return pattern.endsWith("*") && compileGlob(pattern)(prefix);
}

/** Whether a glob matches any text that begins with `prefix`. */
export function matchesSomeWith(pattern: string, prefix: string): boolean {
  for (let end = 0; end <= pattern.length; end++) if (compileGlob(pattern.slice(0, end))(prefix)) return true;
  return false;
}

interface CompiledRules {
  readonly allow: readonly Matcher[] | undefined;
  readonly deny: readonly Matcher[];
  readonly ask: readonly Matcher[];
}

const compile = perObject(
  ({ allow, deny, ask }: ToolRules): CompiledRules => ({
    allow: allow?.map(compileGlob),
    deny: deny.map(compileGlob),
    ask: ask.map(compileGlob),
  }),
);

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
