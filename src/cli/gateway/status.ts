/**
 * `metamcp gateway status`: shows the servers of a gateway with their states, and its endpoints with their
 * addresses.
 */
import type { ItemOf } from "../../admin/route-types.ts";
import type { Command } from "../command.ts";
import { show, table } from "../table.ts";
import { GatewayClient, type Given } from "./client.ts";

export const command: Command = {
  name: "gateway",
  usage: "gateway status",
  summary: "Show the states of servers and the addresses of endpoints.",
  takes: [0, 0],
  async run(given) {
    const { settings } = given as Given<Record<never, never>>;
    const client = new GatewayClient(settings);
    const servers = (await client.all("/mcp-servers")).map(({ name, status }) => ({
      name,
      ...status,
    }));
    const endpoints = (await client.all("/endpoints")).map(({ name, surface, disabled }) => ({
      name,
      surface,
      disabled,
      url: `${client.url}/metamcp/${name}/mcp`,
    }));
    show({ gateway: client.url, servers, endpoints }, settings.json, () => {
      const isShared = servers.some(({ replicas }) => replicas);
      const states = servers.map(
        ({ name, state, toolCount, instances, reason = "", lastFailure, replicas }) => [
          name,
          instances === undefined ? state : `${state} (${instances} running)`,
          String(toolCount),
          ...(isShared ? [whereOf(replicas)] : []),
          lastFailure ? `failed before, since ${lastFailure.since}: ${lastFailure.reason}` : reason,
        ],
      );
      const heads = ["SERVER", "STATE", "TOOLS", ...(isShared ? ["REPLICAS"] : []), "REASON"];
      const addresses = endpoints.map(({ name, surface, disabled, url }) => [
        name,
        disabled ? "disabled" : surface,
        url,
      ]);
      return [
        servers.length > 0 ? table(heads, states) : "No servers.",
        endpoints.length > 0 ? table(["ENDPOINT", "SURFACE", "ADDRESS"], addresses) : "No endpoints.",
      ].join("\n\n");
    });
    return 0;
  },
};

const MISSING = { silent: "silent", unknown: "does not answer this" };

/** The replicas where the server is not closed, with its state there. */
function whereOf(replicas: ItemOf<"/mcp-servers">["status"]["replicas"] = []): string {
  return replicas
    .filter(({ state }) => state !== "closed" && state !== "disabled")
    .map(({ replica, state, missing }) => `${replica} ${missing ? MISSING[missing] : state}`)
    .join(", ");
}
