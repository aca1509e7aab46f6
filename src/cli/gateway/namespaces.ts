/** `metamcp gateway namespaces`: lists, shows, creates and deletes namespaces. */
import type { ItemOf } from "../../admin/route-types.ts";
import type { Table } from "../../config/command-line.ts";
import type { Command } from "../command.ts";
import { GatewayClient, type Given } from "./client.ts";
import { FORCE, runObjectCommand } from "./object-command.ts";

const FLAGS = {
  server: {
    kind: "list",
    env: false,
    value: "name",
    help: "With create: a server to include; can be repeated.",
  },
  ...FORCE,
} as const satisfies Table;

export const command: Command = {
  name: "gateway",
  usage: "gateway namespaces [list | show NAME | tools NAME | create NAME [--server NAME …] | delete NAME]",
  summary: "List, show, create and delete namespaces.",
  flags: FLAGS,
  takes: [0, 2],
  async run(given) {
    const { settings, positionals } = given as Given<typeof FLAGS>;
    const { json, force, server } = settings;
    const about = {
      path: "/namespaces" as const,
      usage: command.usage,
      head: ["NAMESPACE", "SERVERS", "MANAGED BY", "DESCRIPTION"],
      row: ({ name, servers, managedBy, description }: ItemOf<"/namespaces">) => [
        name,
        String(servers.length),
        managedBy,
        description,
      ],
      fields: () => ({ servers: server.map((name) => ({ server: name })) }),
    };
    return await runObjectCommand(about, new GatewayClient(settings), { positionals, json, force });
  },
};
