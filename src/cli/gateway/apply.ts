/** `metamcp gateway apply`: applies a config document, in one revision or not at all. */
import type { Writes } from "../../admin/route-types.ts";
import type { Command } from "../command.ts";
import { show } from "../table.ts";
import { changeTable } from "./change-table.ts";
import type { Given } from "./client.ts";
import { DOCUMENT_FLAGS, sendDocument } from "./document-file.ts";

type Applied = Writes["POST /config/apply"]["answer"];

export const command: Command = {
  name: "gateway",
  usage: "gateway apply FILE [--prune] [--source NAME]",
  summary: "Apply a config document.",
  flags: DOCUMENT_FLAGS,
  takes: [1, 1],
  async run(given) {
    const read = given as Given<typeof DOCUMENT_FLAGS>;
    const answer = await sendDocument("POST /config/apply", read);
    show(answer, read.settings.json, () => appliedText(answer));
    // The gateway is not what the file says.
    return answer.left?.length ? 1 : 0;
  },
};

export function appliedText({ revision, changes, left = [] }: Applied): string {
  const done = changes.length > 0 ? [`\nRevision ${revision}.`] : [];
  return [changeTable(changes), ...leftText(left), ...done].join("\n");
}

export function leftText(left: NonNullable<Applied["left"]>): readonly string[] {
  return left.map(
    ({ kind, name }) =>
      `The ${kind} "${name}" stays as it is: it was changed over the API. To take it back: --take-over`,
  );
}
