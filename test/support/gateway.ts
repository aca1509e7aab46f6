/** The built product on stdio with its own config, for integration tests. */
import { join } from "node:path";
import { RawClient } from "./raw-client.ts";
import { ROOT, type Temp } from "./temp.ts";

export interface GatewayOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts `dist/metamcp.js` in the folder with its config. Sends nothing yet. */
export function gateway(folder: Temp, { flags = [], env }: GatewayOptions = {}): RawClient {
  const configFlag = folder.env["METAMCP_CONFIG"] === undefined ? [] : ["--config", folder.config];
  return new RawClient(process.execPath, {
    args: [join(ROOT, "dist/metamcp.js"), ...configFlag, ...flags],
    cwd: folder.path("."),
    env: { ...folder.env, ...env },
  });
}
