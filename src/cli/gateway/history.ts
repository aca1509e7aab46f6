/** `metamcp gateway history`: shows the revisions of the config, or one revision with its changes. */
import type { ItemOf } from "../../admin/route-types.ts";
import type { Table } from "../../config/command-line.ts";
import type { Command } from "../command.ts";
import { show, table } from "../table.ts";
import { changeTable } from "./change-table.ts";
import { GatewayClient, type Given } from "./client.ts";
import { revisionNumber } from "./revision-number.ts";

const FLAGS = {
  limit: { kind: "whole", env: false, least: 1, most: 500, default: 20, help: "How many revisions." },
} as const satisfies Table;

type Revision = ItemOf<"/revisions">;

export const command: Command = {
  name: "gateway",
  usage: "gateway history [N]",
  summary: "Show the revisions of the config, or the changes of one.",
  flags: FLAGS,
  takes: [0, 1],
  async run(given) {
    const { settings, positionals } = given as Given<typeof FLAGS>;
    const client = new GatewayClient(settings);
    const [n] = positionals;
    if (n === undefined) {
      const page = await client.get("/revisions", { limit: settings.limit });
      show(page, settings.json, () => revisionTable(page.items));
      return 0;
    }
    const one = await client.get("/revisions/:n", { n: revisionNumber(n) });
    show(one, settings.json, () => `${revisionTable([one])}\n\n${changeTable(one.diff)}`);
    return 0;
  },
};

function revisionTable(revisions: readonly Revision[]): string {
  if (revisions.length === 0) return "There are no revisions yet.";
  const rows = revisions.map(({ n, at, who, summary }) => [String(n), at, who.name, summary]);
  return table(["REVISION", "AT", "WHO", "SUMMARY"], rows);
}
