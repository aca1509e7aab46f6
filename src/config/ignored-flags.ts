/** Warns about flags that have no effect with the chosen transport. */
import type { Settings } from "./flags.ts";

const HTTP_ONLY = [
  "host",
  "port",
  "tls",
  "tlsCert",
  "tlsKey",
  "accessLog",
  "allowOrigin",
  "allowHost",
  "noAuth",
];
const STREAMABLE_ONLY = ["stateless", "jsonResponse", "sessionTimeout"];

/** `given`: the given settings with their source. Variables are not checked, because they may be meant for another MetaMCP. */
export function ignoredFlags(
  { transport }: Pick<Settings, "transport">,
  given: ReadonlyMap<string, string>,
): readonly string[] {
  if (transport === "streamable") return [];
  const flagsOf = (keys: readonly string[]): string[] =>
    keys.map((key) => given.get(key) ?? "").filter((source) => source.startsWith("--"));
  const streamable = flagsOf(STREAMABLE_ONLY);
  const ignored = transport === "stdio" ? [...flagsOf(HTTP_ONLY), ...streamable] : streamable;
  if (ignored.length === 0) return [];
  const suggestion = streamable.length > 0 ? "streamable" : "streamable or sse";
  return [`No effect over ${transport}: ${ignored.join(", ")}. Did you mean --transport ${suggestion}?`];
}
