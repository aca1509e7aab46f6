/** Knows programs that download a server before its first start, which is then slow. */
import type { ServerSpec } from "../config/spec.ts";

const DOWNLOADS = /(^|\/)(npx|uvx|bunx|pnpx|docker)$/;

/** Why the start may take long; undefined if no such reason is known. */
export function whySlow(spec: ServerSpec): string | undefined {
  return spec.kind === "stdio" && DOWNLOADS.test(spec.command)
    ? `${spec.command} may be downloading it`
    : undefined;
}
