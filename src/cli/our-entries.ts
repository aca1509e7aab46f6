/**
 * Reads the entries of a config as written, split into those that MetaMCP can run and those that it cannot.
 */
import type { OurEntries } from "../clients/take-out.ts";
import { isKeys } from "../config/field.ts";
import type { LayerCheck } from "../config/layers.ts";
import { loadConfig, readConfigText } from "../config/load.ts";
import { parseText } from "../config/parse.ts";

/** Returns no entries if the file does not exist or cannot be parsed. */
export async function ourEntries(path: string, layers: LayerCheck): Promise<OurEntries> {
  const config = await loadConfig(path, { env: process.env, layers }).catch(() => undefined);
  const text = config?.exists ? await readConfigText(path) : undefined;
  const parsed = text === undefined ? undefined : await parseText(text);
  const file = parsed && "value" in parsed ? parsed.value : undefined;
  const servers = isKeys(file) && isKeys(file["mcpServers"]) ? file["mcpServers"] : {};
  const entriesIn = (known: { has(name: string): boolean } | undefined) =>
    Object.fromEntries(Object.entries(servers).filter(([name]) => known?.has(name)));
  const broken = config?.broken ?? new Map<string, string>();
  return { usable: entriesIn(config?.servers), broken: entriesIn(broken), reasons: broken };
}
