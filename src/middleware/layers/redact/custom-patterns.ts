/** Patterns of administrators, matched in linear time by RE2. The engine is loaded with the first pattern. */
import type { RE2JS } from "re2js";
import type { Span } from "../../../kernel/secret-forms.ts";
import type { Detector } from "./detectors.ts";

let engine: typeof RE2JS | undefined;
let loading: Promise<void> | undefined;

/** Returns undefined if the engine is loaded. */
export function loadPatterns(): Promise<void> | undefined {
  if (engine) return undefined;
  loading ??= import("re2js").then((module) => {
    engine = module.RE2JS;
  });
  return loading;
}

/**
 * A repetition is compiled by repeating what it repeats. Compiling takes about a microsecond for each of
 * these.
 */
const LARGEST = 2_000;

/** Undefined if the pattern can be used. */
export function patternProblem(pattern: string): string | undefined {
  if (compiledSize(pattern) > LARGEST) return "repeats too much: use smaller numbers in { }";
  try {
    return compiled(pattern).matcher("").find() ? "must not match the empty text" : undefined;
  } catch (error) {
    return `is not valid: ${String((error as Error).message).slice(0, 200)}`;
  }
}

/** About as many as the compiled pattern has instructions. */
export function compiledSize(pattern: string): number {
  /** The size of each open group so far, and of the last thing in it. */
  const open = [{ size: 0, last: 0 }];
  for (const [token = ""] of pattern.matchAll(TOKEN)) {
    const group = open.at(-1) as { size: number; last: number };
    const isCount = token.length > 1 && token.startsWith("{");
    if (token === "(") open.push({ size: 0, last: 0 });
    else if (token === ")" && open.length > 1) {
      open.pop();
      const outer = open.at(-1) as { size: number; last: number };
      outer.last = group.size;
      outer.size += group.size;
    } else if (isCount) {
      const times = Math.max(1, ...[...token.matchAll(/\d+/g)].map(([digits]) => Number(digits)));
      group.size += group.last * (times - 1);
      group.last *= times;
    } else {
      group.last = 1;
      group.size += 1;
    }
  }
  return open.reduce((sum, { size }) => sum + size, 0);
}

/** A counted repetition, an escaped character, a class, or any character. */
const TOKEN = /\{\d*,?\d*\}|\\.|\[(?:\\.|[^\]\\])*\]|./gs;

export function customDetector(name: string, pattern: string): Detector {
  const expression = compiled(pattern);
  return {
    name,
    numbers: true,
    find(text) {
      const matcher = expression.matcher(text);
      const found: Span[] = [];
      while (matcher.find()) found.push({ from: matcher.start(), to: matcher.end() });
      return found.filter(({ from, to }) => to > from);
    },
  };
}

function compiled(pattern: string): RE2JS {
  if (!engine) throw new Error("patterns are not loaded");
  return engine.compile(pattern);
}
