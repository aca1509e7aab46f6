/** Patterns of administrators, matched in linear time by RE2. The engine is loaded with the first pattern. */
import type { RE2JS } from "re2js";
import type { Detector, Span } from "./detectors.ts";

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

/** Undefined if the pattern can be used. */
export function patternProblem(pattern: string): string | undefined {
  try {
    return compiled(pattern).matcher("").find() ? "must not match the empty text" : undefined;
  } catch (error) {
    return `is not valid: ${String((error as Error).message).slice(0, 200)}`;
  }
}

export function ownDetector(name: string, pattern: string): Detector {
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
