/**
 * `metamcp trust`: manages the publishers whose servers may be added without asking. Starts and fetches
 * nothing.
 */
import { UsageError } from "../config/command-line.ts";
import { homeFolder } from "../home/home.ts";
import { nearest } from "../kernel/nearest.ts";
import { flawOf, type TrustRules } from "../provision/trust.ts";
import { changeTrust, readTrust } from "../provision/trust-file.ts";
import type { Command } from "./command.ts";
import { show, table } from "./table.ts";

export const command: Command = {
  name: "trust",
  usage: "trust add|remove|list [NAME…]",
  summary:
    "Manage trusted publishers (packages, registry names, @scope/*, io.github.name/*). mcp_provision adds their servers without asking.",
  flags: {
    deny: { kind: "switch", env: false, help: "Edit the list of publishers whose servers are never added." },
  },
  takes: [0, Number.POSITIVE_INFINITY],
  async run({ positionals, settings }) {
    const [verb = "list", ...names] = positionals;
    const { deny, json } = settings as unknown as { deny: boolean; json: boolean };
    const list = deny ? "deny" : "allow";
    const home = homeFolder(process.env);
    const { path, rules } = await readTrust(home);
    if (verb === "list") {
      if (names.length > 0 || deny) throw new UsageError('"metamcp trust list" takes no names.');
      show({ path, ...rules }, json, () => forPeople(path, rules));
      return 0;
    }
    if (verb !== "add" && verb !== "remove") throw new UsageError(unknownVerb(verb));
    if (names.length === 0) throw new UsageError(`Usage: metamcp trust ${verb} NAME…`);
    const after = verb === "add" ? await add(home, list, names) : await remove(home, list, names, rules);
    show({ path, ...after }, json, () => forPeople(path, after));
    return 0;
  },
};

async function add(home: string, list: keyof TrustRules, names: readonly string[]): Promise<TrustRules> {
  for (const name of names) {
    const flaw = flawOf(name, list);
    if (flaw !== undefined) throw new UsageError(`${JSON.stringify(name)} is not a valid rule: ${flaw}.`);
  }
  return await changeTrust(home, { list, add: names }, new Date());
}

async function remove(
  home: string,
  list: keyof TrustRules,
  names: readonly string[],
  rules: TrustRules,
): Promise<TrustRules> {
  const absent = names.find((name) => !rules[list].includes(name));
  if (absent !== undefined) {
    const [guess] = nearest(absent, rules[list], 1);
    throw new Error(`"${absent}" is not on the list.${guess ? ` Did you mean "${guess}"?` : ""}`);
  }
  return await changeTrust(home, { list, remove: names }, new Date());
}

function unknownVerb(verb: string): string {
  const [guess] = nearest(verb, ["add", "remove", "list"], 1);
  return `"${verb}" is not a trust command.${guess ? ` Did you mean "${guess}"?` : " Use add, remove or list."}`;
}

function forPeople(path: string, { allow, deny }: TrustRules): string {
  const rows = [
    ...deny.map((name) => [name, "denied: never added"]),
    ...allow.map((name) => [name, "trusted: added without asking"]),
  ];
  return rows.length === 0
    ? `You trust no publishers, so MetaMCP asks before it adds a server. The list is ${path}.`
    : `${table(["NAME", "RULE"], rows)}\n\nThe list is ${path}.`;
}
