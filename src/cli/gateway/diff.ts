/** `metamcp gateway diff`: shows what applying a document would change. */
import type { Table } from "../../config/command-line.ts";
import type { Command } from "../command.ts";
import { show } from "../table.ts";
import { type ChangeLine, changeTable } from "./change-table.ts";
import type { Given } from "./client.ts";
import { DOCUMENT_FLAGS, sendDocument } from "./document-file.ts";

const FLAGS = {
  exitCode: { kind: "switch", env: false, help: "Exit with 1 if there are changes." },
  ...DOCUMENT_FLAGS,
} as const satisfies Table;

export const command: Command = {
  name: "gateway",
  usage: "gateway diff FILE [--exit-code]",
  summary: "Show what applying a document would change.",
  flags: FLAGS,
  takes: [1, 1],
  async run(given) {
    const read = given as Given<typeof FLAGS>;
    const answer = await sendDocument<{ changes: readonly ChangeLine[] }>("/config/diff", read);
    show(answer, read.settings.json, () => changeTable(answer.changes));
    return read.settings.exitCode && answer.changes.length > 0 ? 1 : 0;
  },
};
