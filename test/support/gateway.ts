/** The built product on stdio with a config of its own, for integration tests. */
import { join } from "node:path";
import { RawClient } from "./raw-client.ts";
import { ROOT, type Temp } from "./temp.ts";

export interface GatewayOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts `dist/metamcp.js` on the config of the folder, in that folder; nothing is sent yet. */
export function gateway(folder: Temp, { flags = [], env }: GatewayOptions = {}): RawClient {
  const named = folder.env["METAMCP_CONFIG"] === undefined ? [] : ["--config", folder.config];
  return new RawClient(process.execPath, {
    args: [join(ROOT, "dist/metamcp.js"), ...named, ...flags],
    cwd: folder.path("."),
    env: { ...folder.env, ...env },
  });
}
