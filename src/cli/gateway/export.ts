/** `metamcp gateway export`: prints the config as a document, without secrets. */
import type { Command } from "../command.ts";
import { printResult } from "../print.ts";
import { GatewayClient, type Given } from "./client.ts";

export const command: Command = {
  name: "gateway",
  usage: "gateway export [--json]",
  summary: "Print the config as YAML or JSON, without secrets.",
  takes: [0, 0],
  async run(given) {
    const { settings } = given as Given<Record<never, never>>;
    const accept = settings.json ? "application/json" : "application/yaml";
    const text = await new GatewayClient(settings).text("GET", "/config", { accept });
    const shown = settings.json ? JSON.stringify(JSON.parse(text), undefined, 2) : text.trimEnd();
    printResult(shown);
    return 0;
  },
};
