/** `metamcp gateway endpoints`: lists, shows, creates and deletes endpoints. */
import type { ItemOf } from "../../admin/route-types.ts";
import type { Table } from "../../config/command-line.ts";
import type { Command } from "../command.ts";
import { GatewayClient, type Given } from "./client.ts";
import { runObjectCommand } from "./object-command.ts";

const FLAGS = {
  namespace: {
    kind: "list",
    env: false,
    value: "name",
    help: "With create: a namespace to publish; can be repeated.",
  },
  surface: {
    kind: "choice",
    env: false,
    choices: ["meta", "metatools", "aggregate", "auto"],
    default: "meta",
    help: "With create: what clients see.",
  },
} as const satisfies Table;

export const command: Command = {
  name: "gateway",
  usage: "gateway endpoints [list | show NAME | tools NAME | create NAME [--namespace NAME …] | delete NAME]",
  summary: "List, show, create and delete endpoints.",
  flags: FLAGS,
  takes: [0, 2],
  async run(given) {
    const { settings, positionals } = given as Given<typeof FLAGS>;
    const { json, namespace, surface } = settings;
    const client = new GatewayClient(settings);
    const about = {
      path: "/endpoints" as const,
      usage: command.usage,
      head: ["ENDPOINT", "SURFACE", "ADDRESS", "MANAGED BY"],
      row: ({ name, surface: shown, disabled, managedBy }: ItemOf<"/endpoints">) => [
        name,
        disabled ? "disabled" : shown,
        `${client.url}/metamcp/${name}/mcp`,
        managedBy,
      ],
      fields: () => ({ namespaces: namespace, surface }),
    };
    return await runObjectCommand(about, client, { positionals, json, force: false });
  },
};
