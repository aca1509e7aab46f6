/**
 * Removes the types of TypeScript without checking them. Line numbers stay the same. Loaded when code does
 * not compile as JavaScript.
 */
import { transform } from "sucrase";
import { Uncompilable } from "./engine.ts";

/**
 * Returns the JavaScript, or the syntax error. That is `problem`, the error as JavaScript, unless the error
 * as TypeScript is in a later line.
 */
export function stripTypes(code: string, problem: Uncompilable): string | Uncompilable {
  try {
    return transform(code, {
      transforms: ["typescript"],
      disableESTransforms: true,
      keepUnusedImports: true,
    }).code;
  } catch (error) {
    const { message, loc } = error as Error & { readonly loc?: { readonly line: number } };
    if (!loc || loc.line <= (problem.line ?? 0)) return problem;
    return new Uncompilable(message.replace(/ \(\d+:\d+\)$/, ""), loc.line);
  }
}
