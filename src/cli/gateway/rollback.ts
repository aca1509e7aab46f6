/** `metamcp gateway rollback`: restores the config of a revision. */
import type { Table } from "../../config/command-line.ts";
import type { Command } from "../command.ts";
import { show } from "../table.ts";
import { appliedText } from "./apply.ts";
import { changeTable } from "./change-table.ts";
import { GatewayClient, type Given } from "./client.ts";
import { revisionNumber } from "./revision-number.ts";

const FLAGS = {
  dryRun: { kind: "switch", env: false, help: "Only show what would change." },
} as const satisfies Table;

export const command: Command = {
  name: "gateway",
  usage: "gateway rollback N [--dry-run]",
  summary: "Restore the config of revision N.",
  flags: FLAGS,
  takes: [1, 1],
  async run(given) {
    const { settings, positionals } = given as Given<typeof FLAGS>;
    const n = revisionNumber(positionals[0] ?? "");
    const params = { n, dryRun: settings.dryRun || undefined };
    const answer = await new GatewayClient(settings).send("POST /revisions/:n/rollback", undefined, params);
    show(answer, settings.json, () => (settings.dryRun ? changeTable(answer.changes) : appliedText(answer)));
    return 0;
  },
};
