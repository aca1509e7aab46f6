/** `metamcp gateway explain`: shows what would happen to a call at an endpoint, and which rule decides. */
import type { Writes } from "../../admin/route-types.ts";
import { type Table, UsageError } from "../../config/command-line.ts";
import { isRecord } from "../../kernel/is-record.ts";
import type { Command } from "../command.ts";
import { show, table } from "../table.ts";
import { GatewayClient, type Given } from "./client.ts";

const FLAGS = {
  as: {
    kind: "text",
    env: false,
    value: "who",
    help: "The caller: an e-mail address or uuid, key:NAME or key:UUID. Default: the owner of METAMCP_ADMIN_TOKEN.",
  },
} as const satisfies Table;

type Explanation = Writes["POST /endpoints/:uuid/explain"]["answer"];

export const command: Command = {
  name: "gateway",
  usage: "gateway explain [--as WHO] ENDPOINT TOOL [ARGUMENTS]",
  summary: "Show what would happen to a call, and which rule decides. Nothing runs.",
  flags: FLAGS,
  takes: [2, 3],
  async run(given) {
    const { settings, positionals } = given as Given<typeof FLAGS>;
    const [endpoint = "", tool = "", written] = positionals;
    const { as, json } = settings;
    const body = { tool, args: argumentsIn(written), ...(as === undefined ? {} : { as }) };
    const client = new GatewayClient(settings);
    const explained = await client.send("POST /endpoints/:uuid/explain", body, { uuid: endpoint });
    show(explained, json, () => explanationText(explained, tool));
    return 0;
  },
};

const OUTCOMES = {
  passes: "passes",
  asks: "runs after somebody says yes",
  answered: "is answered without reaching the server",
  refused: "is refused",
  unknown: "cannot be explained, because the tools of the server are not known",
} as const;

function explanationText({ as, outcome, code, tool, steps }: Explanation, requested: string): string {
  const name = tool ? `${tool.server.name}:${tool.name}` : requested;
  const end = `A call of ${name} by ${as.name} ${OUTCOMES[outcome]}${code === undefined ? "" : ` (${code})`}.`;
  if (steps.length === 0) return end;
  const rows = steps.map(({ use, at, effect, reason = "" }) => [use, at, effect, reason]);
  return `${table(["LAYER", "OF", "EFFECT", "REASON"], rows)}\n\n${end}`;
}

function argumentsIn(written = "{}"): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch (error) {
    throw new UsageError(`The arguments are not valid JSON: ${(error as Error).message}`);
  }
  if (!isRecord(value)) throw new UsageError('The arguments must be a JSON object, such as {"id": 1}.');
  return value;
}
