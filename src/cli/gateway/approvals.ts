/** `metamcp gateway approvals`: lists calls that wait for approval, and approves or refuses one. */
import { type Table, UsageError } from "../../config/command-line.ts";
import type { Command, ExitCode } from "../command.ts";
import { show, table } from "../table.ts";
import { GatewayClient, type Given } from "./client.ts";

const FLAGS = {
  all: { kind: "switch", env: false, help: "Also show calls that were already decided." },
  comment: {
    kind: "text",
    env: false,
    value: "text",
    help: "With approve and refuse: a comment on the decision; the caller sees it after a refusal.",
  },
} as const satisfies Table;

const MAX_ARGUMENTS_LENGTH = 200;

export const command: Command = {
  name: "gateway",
  usage: "gateway approvals [approve UUID | refuse UUID] [--comment TEXT]",
  summary: "Show calls that wait for approval; approve or refuse one.",
  flags: FLAGS,
  takes: [0, 2],
  async run(given) {
    const { settings, positionals } = given as Given<typeof FLAGS>;
    const { json, all, comment } = settings;
    const client = new GatewayClient(settings);
    const [verb = "list", uuid] = positionals;
    if (verb === "list" && uuid === undefined) return await list(client, { json, all });
    if (uuid === undefined || (verb !== "approve" && verb !== "refuse"))
      throw new UsageError(`Usage: metamcp ${command.usage}`);
    const body = comment === undefined ? {} : { comment };
    const decided = await client.send(`POST /approvals/:uuid/${verb}`, body, { uuid });
    show(decided, json, () => `${decided.name} is ${decided.state}.`);
    return 0;
  },
};

async function list(
  client: GatewayClient,
  { json, all }: { json: boolean; all: boolean },
): Promise<ExitCode> {
  const known = await client.all("/approvals");
  const items = all ? known : known.filter(({ state }) => state === "waiting");
  show({ items }, json, () => {
    if (items.length === 0) return "No calls wait for approval.";
    const rows = items.map((one) => [
      one.name,
      shorten(one.arguments),
      one.principal.name,
      one.endpoint.name,
      one.decidedBy ? `${one.state} by ${one.decidedBy.name}` : one.state,
      one.expiresAt,
      one.uuid,
    ]);
    return table(["TOOL", "ARGUMENTS", "WHO", "ENDPOINT", "STATE", "UNTIL", "UUID"], rows);
  });
  return 0;
}

function shorten(args: unknown): string {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return text.length > MAX_ARGUMENTS_LENGTH ? `${text.slice(0, MAX_ARGUMENTS_LENGTH)} …` : text;
}
