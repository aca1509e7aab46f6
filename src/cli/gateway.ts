/** `metamcp gateway`: administers a running gateway over its admin API. Dispatches to its subcommands. */
import { type Table, UsageError } from "../config/command-line.ts";
import { GATEWAY_FLAGS } from "../config/gateway-flags.ts";
import { nearest } from "../kernel/nearest.ts";
import { type Command, type Commands, type ExitCode, runCommand } from "./command.ts";
import { print } from "./print.ts";
import { wrap } from "./wrap.ts";

const COMMANDS: Commands = new Map([
  ["status", () => import("./gateway/status.ts")],
  ["replicas", () => import("./gateway/replicas.ts")],
  ["export", () => import("./gateway/export.ts")],
  ["diff", () => import("./gateway/diff.ts")],
  ["test", () => import("./gateway/test.ts")],
  ["apply", () => import("./gateway/apply.ts")],
  ["history", () => import("./gateway/history.ts")],
  ["rollback", () => import("./gateway/rollback.ts")],
  ["namespaces", () => import("./gateway/namespaces.ts")],
  ["endpoints", () => import("./gateway/endpoints.ts")],
  ["keys", () => import("./gateway/keys.ts")],
  ["users", () => import("./gateway/users.ts")],
  ["approvals", () => import("./gateway/approvals.ts")],
  ["explain", () => import("./gateway/explain.ts")],
  ["audit", () => import("./gateway/audit.ts")],
  ["import", () => import("./gateway/import.ts")],
]);

/** The entry in the list of all commands. `runGateway` runs the subcommands. */
export const command: Command = {
  name: "gateway",
  usage: "gateway COMMAND …",
  summary: "Administer a running gateway.",
  flags: GATEWAY_FLAGS,
  takes: [0, 0],
  async run() {
    throw new UsageError(`Commands: ${[...COMMANDS.keys()].join(", ")}.`);
  },
};

export async function runGateway(argv: readonly string[]): Promise<ExitCode> {
  const [word, ...rest] = argv;
  if (word === undefined || word === "--help" || word === "-h") {
    print(wrap(await helpText(), process.stdout.columns));
    return word === undefined ? 2 : 0;
  }
  const load = COMMANDS.get(word);
  if (load) {
    const { command: one } = await load();
    const flags: Table = { ...one.flags, ...GATEWAY_FLAGS };
    return await runCommand({ ...one, flags }, rest);
  }
  const [guess] = nearest(word, COMMANDS.keys(), 1);
  const hint = guess ? `Did you mean "${guess}"?` : `Commands: ${[...COMMANDS.keys()].join(", ")}.`;
  throw new UsageError(`"${word}" is not a command of "metamcp gateway". ${hint}`);
}

async function helpText(): Promise<string> {
  const all = await Promise.all([...COMMANDS.values()].map(async (load) => (await load()).command));
  const lines = all.map(({ usage, summary }) => `  ${usage}\n      ${summary}`);
  return `${command.summary}\n\nUsage: metamcp ${command.usage}\n\n${lines.join("\n")}\n\n--gateway URL sets the gateway (default http://127.0.0.1:12008). METAMCP_ADMIN_TOKEN must contain its admin token, or an API key with a role.`;
}
