/** `metamcp gateway diff`: shows what applying a document would change. */
import type { Table } from "../../config/command-line.ts";
import type { Command } from "../command.ts";
import { show } from "../table.ts";
import { leftText } from "./apply.ts";
import { changeTable } from "./change-table.ts";
import type { Given } from "./client.ts";
import { DOCUMENT_FLAGS, sendDocument } from "./document-file.ts";

const FLAGS = {
  exitCode: {
    kind: "switch",
    env: false,
    help: "Exit with 1 if there are changes, or objects that were changed over the API.",
  },
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
    const answer = await sendDocument("POST /config/diff", read);
    const { changes, left = [] } = answer;
    show(answer, read.settings.json, () => [changeTable(changes), ...leftText(left)].join("\n"));
    return read.settings.exitCode && changes.length + left.length > 0 ? 1 : 0;
  },
};
