/** Takes the types off TypeScript and checks none of them. Lines stay where they are. Loaded when plain JavaScript does not compile. */
import { transform } from "sucrase";
import { Uncompilable } from "./engine.ts";

/** Or what is wrong with it: `problem`, which it has as JavaScript, unless it reads well as TypeScript up to a later line. */
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
