/** Programs that fetch what they run first, the first time: then a start is slow and nothing is wrong. */
import type { ServerSpec } from "../config/spec.ts";

const FETCHES = /(^|\/)(npx|uvx|bunx|pnpx|docker)$/;

/** Why it may take long; undefined where no such reason is known. */
export function whySlow(spec: ServerSpec): string | undefined {
  return spec.kind === "stdio" && FETCHES.test(spec.command)
    ? `${spec.command} may be downloading it`
    : undefined;
}
