/** Refuses input that is nested so deep that recursion over it could overflow the stack. */
import type { FieldProblem } from "../kernel/field-problem.ts";

/** More than any real input needs. */
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
