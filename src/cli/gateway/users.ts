/** `metamcp gateway users`: manages accounts. An invitation link is printed only once. */
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

interface User {
  readonly uuid: string;
  readonly email: string;
  readonly role: string;
  readonly groups: readonly string[];
  readonly disabled: boolean;
  readonly invited?: boolean;
  readonly identity?: { readonly issuer: string };
}

interface Invitation {
  readonly url: string;
  readonly expiresAt: string;
}

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
  const at = `/users/${encodeURIComponent(who)}`;
  const groups = group.length > 0 ? { groups: group } : {};
  switch (verb) {
    case "invite": {
      const body = { email: who, role: role ?? "member", ...groups };
      const created = await client.post<User & { invitation: Invitation }>("/users", body);
      show(created, json, () => invitationText(created.invitation));
      break;
    }
    case "reset": {
      const invitation = await client.post<Invitation>(`${at}/invitation`, {});
      show(invitation, json, () => invitationText(invitation));
      break;
    }
    case "delete":
      await client.delete(at);
      show({ deleted: who }, json, () => `Deleted ${who}.`);
      break;
    default: {
      const fields =
        verb === "change" ? { ...(role && { role }), ...groups } : { disabled: verb === "disable" };
      const changed = await client.patch<User>(at, fields);
      show(changed, json, () => `Changed ${who}.`);
    }
  }
  return 0;
}

function invitationText({ url, expiresAt }: Invitation): string {
  return `${url}\n\nThe link works once, until ${expiresAt}. The person who opens it chooses the password.`;
}

async function list(client: GatewayClient, json: boolean): Promise<ExitCode> {
  const items = await client.all<User>("/users");
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
