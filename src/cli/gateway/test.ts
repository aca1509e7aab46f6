/** `metamcp gateway test`: runs the policy tests of a gateway, or of a document that it could apply. */
import type { Reads } from "../../admin/route-types.ts";
import type { Command } from "../command.ts";
import { show, table } from "../table.ts";
import { GatewayClient, type Given } from "./client.ts";
import { DOCUMENT_FLAGS, sendDocument } from "./document-file.ts";

type Tests = Reads["/policy-tests"];

export const command: Command = {
  name: "gateway",
  usage: "gateway test [FILE]",
  summary: "Run the policy tests of the gateway, or those of a document on the config that it would make.",
  flags: DOCUMENT_FLAGS,
  takes: [0, 1],
  async run(given) {
    const read = given as Given<typeof DOCUMENT_FLAGS>;
    const { settings, positionals } = read;
    const answer =
      positionals.length > 0
        ? await sendDocument("POST /config/test", read)
        : await new GatewayClient(settings).get("/policy-tests");
    show(answer, settings.json, () => testsText(answer));
    return answer.failed > 0 ? 1 : 0;
  },
};

function testsText({ tests, failed }: Tests): string {
  if (tests.length === 0) return "No policy tests.";
  const rows = tests.map(({ name, state, as, tool, endpoint, expect, got, by = "" }) => [
    state,
    name,
    `${as} calls ${tool} at ${endpoint}`,
    expect,
    got,
    by,
  ]);
  const passed = tests.filter(({ state }) => state === "passed").length;
  return `${table(["STATE", "TEST", "CALL", "EXPECTS", "GETS", "BY"], rows)}\n\n${passed} of ${tests.length} passed, ${failed} failed.`;
}
