/** Refuses input that is nested so deep that walking it could end the stack. */
import type { FieldProblem } from "./refusal.ts";

/** Deeper than anything a person writes. */
const DEEPEST = 64;

export function depthProblems(value: unknown): readonly FieldProblem[] {
  return isDeeper(value, DEEPEST)
    ? [{ path: "", message: `must not be nested more than ${DEEPEST} levels deep` }]
    : [];
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
