/** `metamcp gateway replicas`: lists the replicas of a gateway. */
import type { ItemOf } from "../../admin/route-types.ts";
import type { Command } from "../command.ts";
import { show, table } from "../table.ts";
import { GatewayClient, type Given } from "./client.ts";

type Replica = ItemOf<"/replicas">;

const HEADS = [
  "REPLICA",
  "STATE",
  "ADDRESS",
  "VERSION",
  "SINCE",
  "SESSIONS",
  "PROCESSES",
  "PASSED ON",
  "BEHIND",
];

export const command: Command = {
  name: "gateway",
  usage: "gateway replicas",
  summary: "List the replicas of the gateway.",
  takes: [0, 0],
  async run(given) {
    const { settings } = given as Given<Record<never, never>>;
    const client = new GatewayClient(settings);
    const items = await client.all("/replicas");
    show({ items }, settings.json, () =>
      items.length === 0 ? "The gateway is alone on its store." : table(HEADS, items.map(rowOf)),
    );
    return 0;
  },
};

function rowOf({ id, self, address, version, state, since, ...figures }: Replica): readonly string[] {
  const { sessions, processes, forwarded, lag } = figures;
  return [
    self ? `${id} (answers)` : id,
    state,
    address ?? "shares nothing",
    version,
    since.slice(0, 19).replace("T", " "),
    String(sessions),
    String(processes),
    `${Math.round(forwarded * 100)} %`,
    lag === 0 ? "" : String(lag),
  ];
}
