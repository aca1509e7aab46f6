/** Takes the types off TypeScript and checks none of them. Lines stay where they are. Loaded when plain JavaScript does not compile. */
import { transform } from "sucrase";

export function stripTypes(code: string): string {
  return transform(code, { transforms: ["typescript"], disableESTransforms: true, keepUnusedImports: true })
    .code;
}
