/** `metamcp gateway users`: manages accounts. An invitation link is printed only once. */
import type { ItemOf, Writes } from "../../admin/route-types.ts";
import { type Table, UsageError } from "../../config/command-line.ts";
import type { Command, ExitCode } from "../command.ts";
import { show, table } from "../table.ts";
import { GatewayClient, type Given } from "./client.ts";

const FLAGS = {
  role: {
    kind: "choice",
    env: false,
    choices: ["admin", "editor", "viewer", "member"],
    help: "With invite and change: the role of the account. Default for an invitation: member.",
  },
  group: {
    kind: "list",
    env: false,
    value: "name",
    help: "With invite and change: a group of the account; can be repeated.",
  },
} as const satisfies Table;

type User = ItemOf<"/users">;
type Invitation = Writes["POST /users"]["answer"]["invitation"];

const VERBS = ["invite", "change", "enable", "disable", "delete", "reset"];

export const command: Command = {
  name: "gateway",
  usage: `gateway users [list | ${VERBS.join(" | ")}] [EMAIL] [--role ROLE] [--group NAME …]`,
  summary: "List, invite, change and delete accounts.",
  flags: FLAGS,
  takes: [0, 2],
  async run(given) {
    const { settings, positionals } = given as Given<typeof FLAGS>;
    const client = new GatewayClient(settings);
    const [verb = "list", who] = positionals;
    if (verb === "list") return await list(client, settings.json);
    if (who === undefined || !VERBS.includes(verb)) throw new UsageError(`Usage: metamcp ${command.usage}`);
    return await change(client, verb, who, settings);
  },
};

type Settings = Given<typeof FLAGS>["settings"];

async function change(
  client: GatewayClient,
  verb: string,
  who: string,
  settings: Settings,
): Promise<ExitCode> {
  const { role, group, json } = settings;
  const groups = group.length > 0 ? { groups: group } : {};
  switch (verb) {
    case "invite": {
      const body = { email: who, role: role ?? "member", ...groups };
      const created = await client.send("POST /users", body);
      show(created, json, () => invitationText(created.invitation));
      break;
    }
    case "reset": {
      const invitation = await client.send("POST /users/:uuid/invitation", undefined, { uuid: who });
      show(invitation, json, () => invitationText(invitation));
      break;
    }
    case "delete":
      await client.send("DELETE /users/:uuid", undefined, { uuid: who });
      show({ deleted: who }, json, () => `Deleted ${who}.`);
      break;
    default: {
      const fields =
        verb === "change" ? { ...(role && { role }), ...groups } : { disabled: verb === "disable" };
      const changed = await client.send("PATCH /users/:uuid", fields, { uuid: who });
      show(changed, json, () => `Changed ${who}.`);
    }
  }
  return 0;
}

function invitationText({ url, expiresAt }: Invitation): string {
  return `${url}\n\nThe link works once, until ${expiresAt}. The person who opens it chooses the password.`;
}

async function list(client: GatewayClient, json: boolean): Promise<ExitCode> {
  const items = await client.all("/users");
  show({ items }, json, () => {
    if (items.length === 0) return "No accounts yet.";
    const rows = items.map((user) => [
      user.email,
      user.role,
      user.groups.join(", "),
      stateOf(user),
      user.uuid,
    ]);
    return table(["USER", "ROLE", "GROUPS", "STATE", "UUID"], rows);
  });
  return 0;
}

function stateOf({ disabled, invited, identity }: User): string {
  if (disabled) return "disabled";
  if (invited) return "invited";
  return identity ? `login at ${identity.issuer}` : "";
}
