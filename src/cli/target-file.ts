/** Chooses the config file that a command writes: `--here`, `--config`, or `~/.metamcp/mcp.json`. */
import { type Table, UsageError } from "../config/command-line.ts";
import { FLAGS } from "../config/flags.ts";
import { configToWrite } from "../config/locate.ts";
import type { ReadSettings } from "../config/settings.ts";

export const TARGET_FILE_FLAGS = {
  here: {
    kind: "switch",
    env: false,
    help: "Use .mcp.json in this folder instead of ~/.metamcp/mcp.json.",
  },
  config: { ...FLAGS.config, help: "Config file. Default: ~/.metamcp/mcp.json." },
} as const satisfies Table;

export function targetFile({ settings, given }: ReadSettings<Table>): string {
  const { here, config } = settings as typeof settings & { here: boolean };
  if (here && given.get("config") === "--config") throw new UsageError("Give either --here or --config.");
  return configToWrite({ config, here }, process.cwd(), process.env);
}
