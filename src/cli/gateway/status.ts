/** `metamcp gateway status`: shows the servers of a gateway with their states, and its endpoints with their addresses. */
import type { Command } from "../command.ts";
import { show, table } from "../table.ts";
import { GatewayClient, type Given } from "./client.ts";

interface Server {
  readonly name: string;
  readonly status: {
    readonly state: string;
    readonly toolCount: number;
    readonly reason?: string;
    readonly instances?: number;
  };
}

interface Endpoint {
  readonly name: string;
  readonly surface: string;
  readonly disabled: boolean;
}

export const command: Command = {
  name: "gateway",
  usage: "gateway status",
  summary: "Show the states of servers and the addresses of endpoints.",
  takes: [0, 0],
  async run(given) {
    const { settings } = given as Given<Record<never, never>>;
    const client = new GatewayClient(settings);
    const servers = (await client.all<Server>("/mcp-servers")).map(({ name, status }) => ({
      name,
      ...status,
    }));
    const endpoints = (await client.all<Endpoint>("/endpoints")).map(({ name, surface, disabled }) => ({
      name,
      surface,
      disabled,
      url: `${client.url}/metamcp/${name}/mcp`,
    }));
    show({ gateway: client.url, servers, endpoints }, settings.json, () => {
      const states = servers.map(({ name, state, toolCount, instances, reason = "" }) => [
        name,
        instances === undefined ? state : `${state} (${instances} running)`,
        String(toolCount),
        reason,
      ]);
      const addresses = endpoints.map(({ name, surface, disabled, url }) => [
        name,
        disabled ? "disabled" : surface,
        url,
      ]);
      return [
        servers.length > 0 ? table(["SERVER", "STATE", "TOOLS", "REASON"], states) : "No servers.",
        endpoints.length > 0 ? table(["ENDPOINT", "SURFACE", "ADDRESS"], addresses) : "No endpoints.",
      ].join("\n\n");
    });
    return 0;
  },
};
