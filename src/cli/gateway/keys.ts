/**
 * `metamcp gateway keys`: manages API keys for endpoints and the admin API. A new key is printed only once.
 */
import type { ItemOf, Writes } from "../../admin/route-types.ts";
import { type Table, UsageError } from "../../config/command-line.ts";
import type { Command, ExitCode } from "../command.ts";
import { show, table } from "../table.ts";
import { GatewayClient, type Given } from "./client.ts";

const FLAGS = {
  endpoint: {
    kind: "list",
    env: false,
    value: "name",
    help: "With create: an endpoint that the key can use; can be repeated. Default: all.",
  },
  role: {
    kind: "choice",
    env: false,
    choices: ["admin", "editor", "viewer", "member"],
    help: "With create: give access to the admin API with this role, instead of endpoints.",
  },
  owner: {
    kind: "text",
    env: false,
    value: "user",
    help: "With create: the account that owns the key, by e-mail address or uuid.",
  },
  tier: {
    kind: "list",
    env: false,
    value: "tier",
    help: "With create: only tools of this tier (readOnly, write, destructive); can be repeated.",
  },
  expires: {
    kind: "text",
    env: false,
    value: "date",
    help: "With create: expiry date, such as 2030-01-31.",
  },
} as const satisfies Table;

type Key = ItemOf<"/api-keys">;
/** The gateway refuses other words. */
type Tiers = NonNullable<Writes["POST /api-keys"]["body"]["tiers"]>;

export const command: Command = {
  name: "gateway",
  usage: "gateway keys [list | create NAME [--endpoint NAME …] | revoke UUID]",
  summary: "List, create and revoke API keys.",
  flags: FLAGS,
  takes: [0, 2],
  async run(given) {
    const { settings, positionals } = given as Given<typeof FLAGS>;
    const client = new GatewayClient(settings);
    const [verb = "list", what] = positionals;
    if (verb === "list") return await list(client, settings.json);
    if (what === undefined || !["create", "revoke"].includes(verb))
      throw new UsageError(`Usage: metamcp ${command.usage}`);
    if (verb === "revoke") {
      await client.send("DELETE /api-keys/:uuid", undefined, { uuid: what });
      show({ revoked: what }, settings.json, () => `Revoked ${what}.`);
      return 0;
    }
    const { endpoint, expires, role, owner, tier } = settings;
    if (role !== undefined && endpoint.length > 0) throw new UsageError("Use either --role or --endpoint.");
    const access =
      role === undefined ? { endpoints: endpoint.length > 0 ? endpoint : ("all" as const) } : { role };
    const created = await client.send("POST /api-keys", {
      name: what,
      ...access,
      ...(tier.length > 0 ? { tiers: tier as Tiers } : {}),
      ...(owner === undefined ? {} : { owner }),
      ...(expires === undefined ? {} : { expiresAt: timeOf(expires) }),
    });
    show(created, settings.json, () => `${created.key}\n\nThis is the only time the key is shown.`);
    return 0;
  },
};

async function list(client: GatewayClient, json: boolean): Promise<ExitCode> {
  const items = await client.all("/api-keys");
  const endpoints = await client.all("/endpoints");
  const names = new Map(endpoints.map(({ uuid, name }) => [uuid, name]));
  show({ items }, json, () => {
    if (items.length === 0) return "No keys yet.";
    const rows = items.map((key) => [
      key.name,
      `${key.prefix}…`,
      accessText(key, names),
      key.expiresAt ?? "",
      key.lastUsedAt ?? "",
      key.uuid,
    ]);
    return table(["KEY", "BEGINS WITH", "OPENS", "EXPIRES", "LAST USED", "UUID"], rows);
  });
  return 0;
}

function accessText({ endpoints = [], role }: Key, names: ReadonlyMap<string, string>): string {
  if (role !== undefined) return `admin API as ${role}`;
  return endpoints === "all"
    ? "all endpoints"
    : endpoints.map((uuid) => names.get(uuid) ?? "(deleted)").join(", ");
}

function timeOf(written: string): string {
  const time = Date.parse(written);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new UsageError(`--expires is "${written}", but must be a date such as 2030-01-31.`);
}
