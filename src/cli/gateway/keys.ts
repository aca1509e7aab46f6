/**
 * `metamcp gateway keys`: manages API keys for endpoints and the admin API, and machine clients. A new key is
 * printed only once.
 */
import { readFile } from "node:fs/promises";
import type { ItemOf, Writes } from "../../admin/route-types.ts";
import { type Table, UsageError } from "../../config/command-line.ts";
import { parseTime } from "../../config/time.ts";
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
  machine: {
    kind: "switch",
    env: false,
    help: "With create: an OAuth client that gets tokens for itself. The key is its client secret.",
  },
  jwks: {
    kind: "text",
    env: false,
    value: "file",
    help: "With create --machine: a file with its public keys (JWKS), instead of a secret.",
  },
  jwksUri: {
    kind: "text",
    env: false,
    value: "url",
    help: "With create --machine: the https address of its public keys, instead of a secret.",
  },
  expires: {
    kind: "text",
    env: false,
    value: "date",
    help: "With create: expiry date, such as 2030-01-31.",
  },
  overlap: {
    kind: "text",
    env: false,
    value: "time",
    help: "With rotate: how long the former text is valid too, such as 2h; 0 ends it at once. Default: 24h.",
  },
} as const satisfies Table;

type Key = ItemOf<"/api-keys">;
/** The gateway refuses other words. */
type Tiers = NonNullable<Writes["POST /api-keys"]["body"]["tiers"]>;

export const command: Command = {
  name: "gateway",
  usage:
    "gateway keys [list | create NAME [--endpoint NAME …] [--machine [--jwks FILE | --jwks-uri URL]] | rotate KEY [--overlap TIME] | revoke UUID]",
  summary: "List, create, rotate and revoke API keys.",
  flags: FLAGS,
  takes: [0, 2],
  async run(given) {
    const { settings, positionals } = given as Given<typeof FLAGS>;
    const client = new GatewayClient(settings);
    const [verb = "list", what] = positionals;
    if (verb === "list") return await list(client, settings.json);
    if (what === undefined || !["create", "rotate", "revoke"].includes(verb))
      throw new UsageError(`Usage: metamcp ${command.usage}`);
    if (verb === "revoke") {
      await client.send("DELETE /api-keys/:uuid", undefined, { uuid: what });
      show({ revoked: what }, settings.json, () => `Revoked ${what}.`);
      return 0;
    }
    if (verb === "rotate") return await rotate(client, what, settings);
    const { endpoint, expires, role, owner, tier } = settings;
    const machine = await machineOf(settings);
    if (role !== undefined && endpoint.length > 0) throw new UsageError("Use either --role or --endpoint.");
    const access =
      role === undefined ? { endpoints: endpoint.length > 0 ? endpoint : ("all" as const) } : { role };
    const created = await client.send("POST /api-keys", {
      name: what,
      ...access,
      ...(machine && { machine }),
      ...(tier.length > 0 ? { tiers: tier as Tiers } : {}),
      ...(owner === undefined ? {} : { owner }),
      ...(expires === undefined ? {} : { expiresAt: timeOf(expires) }),
    });
    show(created, settings.json, () => madeText(created));
    return 0;
  },
};

type Machine = NonNullable<Writes["POST /api-keys"]["body"]["machine"]>;

async function machineOf({
  machine,
  jwks,
  jwksUri,
}: Given<typeof FLAGS>["settings"]): Promise<Machine | undefined> {
  if (!machine && (jwks ?? jwksUri) !== undefined)
    throw new UsageError("--jwks and --jwks-uri need --machine.");
  if (!machine) return undefined;
  if (jwks === undefined) return jwksUri === undefined ? {} : { jwksUri };
  try {
    const read = JSON.parse(await readFile(jwks, "utf8")) as NonNullable<Machine["jwks"]>;
    return { jwks: read, ...(jwksUri === undefined ? {} : { jwksUri }) };
  } catch (error) {
    throw new UsageError(`${jwks} cannot be read as JSON: ${(error as Error).message}`);
  }
}

function madeText({ uuid, key, machine }: Writes["POST /api-keys"]["answer"]): string {
  const once = "This is the only time the key is shown.";
  if (!machine) return `${key}\n\n${once}`;
  const secret = key === undefined ? "" : `\nClient secret: ${key}\n\n${once}`;
  return `Client id: ${uuid}${secret}`;
}

const HOUR_MS = 3_600_000;

/** `what` is a uuid, or a name that only one key has. */
async function rotate(
  client: GatewayClient,
  what: string,
  { overlap, json }: Given<typeof FLAGS>["settings"],
): Promise<ExitCode> {
  const ms = overlap === undefined ? undefined : overlap === "0" ? 0 : parseTime(overlap);
  if (overlap !== undefined && ms === undefined)
    throw new UsageError(`--overlap is "${overlap}", but must be a time such as 2h, or 0.`);
  const named = (await client.all("/api-keys")).filter(({ uuid, name }) => uuid === what || name === what);
  if (named.length > 1) throw new UsageError(`Several keys have the name "${what}": use the uuid.`);
  const uuid = named[0]?.uuid ?? what;
  const body = ms === undefined ? {} : { overlapHours: ms / HOUR_MS };
  const rotated = await client.send("POST /api-keys/:uuid/rotate", body, { uuid });
  const until = rotated.overlapUntil;
  const former =
    until === undefined ? "The former key has ended." : `The former key is valid until ${until}.`;
  show(rotated, json, () => `${madeText(rotated)} ${former}`);
  return 0;
}

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

function accessText({ endpoints = [], role, machine }: Key, names: ReadonlyMap<string, string>): string {
  if (role !== undefined) return `admin API as ${role}`;
  const opened =
    endpoints === "all"
      ? "all endpoints"
      : endpoints.map((uuid) => names.get(uuid) ?? "(deleted)").join(", ");
  return machine ? `${opened} (machine client)` : opened;
}

function timeOf(written: string): string {
  const time = Date.parse(written);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new UsageError(`--expires is "${written}", but must be a date such as 2030-01-31.`);
}
