/** The entries of a config that can be used, as they are written: what MetaMCP runs for a client. */
import { isKeys, type Keys } from "../config/field.ts";
import type { LayerCheck } from "../config/layers.ts";
import { loadConfig, readConfigText } from "../config/load.ts";
import { parseText } from "../config/parse.ts";

/** None where there is no such file, or it cannot be read as a whole. */
export async function usableEntries(path: string, layers: LayerCheck): Promise<Keys> {
  const config = await loadConfig(path, { env: process.env, layers }).catch(() => undefined);
  const text = config?.exists ? await readConfigText(path) : undefined;
  const parsed = text === undefined ? undefined : await parseText(text);
  const file = parsed && "value" in parsed ? parsed.value : undefined;
  const servers = isKeys(file) && isKeys(file["mcpServers"]) ? file["mcpServers"] : {};
  return Object.fromEntries(Object.entries(servers).filter(([name]) => config?.servers.has(name)));
}
