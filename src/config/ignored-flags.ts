/** Flags that have no effect on the chosen transport. They are worth a warning, but none is refused. */
import type { Settings } from "./flags.ts";

const HTTP_ONLY = ["host", "port", "tls", "tlsCert", "tlsKey", "allowOrigin", "allowHost", "noAuth"];
const STREAMABLE_ONLY = ["stateless", "jsonResponse", "sessionTimeout"];

/** `given`: which settings were given, and where. Variables are left alone: they may be meant for another MetaMCP. */
export function ignoredFlags(
  { transport }: Pick<Settings, "transport">,
  given: ReadonlyMap<string, string>,
): readonly string[] {
  if (transport === "streamable") return [];
  const flagsOf = (keys: readonly string[]): string[] =>
    keys.map((key) => given.get(key) ?? "").filter((source) => source.startsWith("--"));
  const streamable = flagsOf(STREAMABLE_ONLY);
  const useless = transport === "stdio" ? [...flagsOf(HTTP_ONLY), ...streamable] : streamable;
  if (useless.length === 0) return [];
  const wanted = streamable.length > 0 ? "streamable" : "streamable or sse";
  return [`No effect over ${transport}: ${useless.join(", ")}. Did you mean --transport ${wanted}?`];
}
