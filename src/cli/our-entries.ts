/** The entries of a config as they are written: those that MetaMCP runs for a client, and those that it cannot run. */
import type { OurEntries } from "../clients/take-out.ts";
import { isKeys } from "../config/field.ts";
import type { LayerCheck } from "../config/layers.ts";
import { loadConfig, readConfigText } from "../config/load.ts";
import { parseText } from "../config/parse.ts";

/** None where there is no such file, or it cannot be read as a whole. */
export async function ourEntries(path: string, layers: LayerCheck): Promise<OurEntries> {
  const config = await loadConfig(path, { env: process.env, layers }).catch(() => undefined);
  const text = config?.exists ? await readConfigText(path) : undefined;
  const parsed = text === undefined ? undefined : await parseText(text);
  const file = parsed && "value" in parsed ? parsed.value : undefined;
  const servers = isKeys(file) && isKeys(file["mcpServers"]) ? file["mcpServers"] : {};
  const those = (known: { has(name: string): boolean } | undefined) =>
    Object.fromEntries(Object.entries(servers).filter(([name]) => known?.has(name)));
  const broken = config?.broken ?? new Map<string, string>();
  return { usable: those(config?.servers), broken: those(broken), reasons: broken };
}
