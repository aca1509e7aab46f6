/** `metamcp remove`: removes servers from the config. A running gateway ends them when it sees the change. */
import { removeServers } from "../config/edit-servers.ts";
import { configCandidates, pickConfig } from "../config/locate.ts";
import { homeFolder } from "../home/home.ts";
import { nearest } from "../kernel/nearest.ts";
import type { Command } from "./command.ts";
import { printError } from "./print.ts";
import { show } from "./table.ts";

export const command: Command = {
  name: "remove",
  usage: "remove NAME…",
  summary: "Remove servers from the config.",
  takes: [1, Number.POSITIVE_INFINITY],
  async run({ positionals, settings }) {
    const { env } = process;
    const path = pickConfig(configCandidates(settings.config, process.cwd(), env));
    const names = [...new Set(positionals)];
    const { removed, absent, known, copy } = await removeServers(path, names, {
      home: homeFolder(env),
      now: new Date(),
    });
    for (const name of absent) printError(`metamcp: ${notThere(name, known, path)}`);
    if (absent.length === 0 || settings.json) {
      show({ config: path, removed, absent, copy }, settings.json, () =>
        [...removed.map((name) => `- ${name}`), `Written to ${path}. Backup: ${copy}`].join("\n"),
      );
    }
    return absent.length === 0 ? 0 : 1;
  },
};

function notThere(name: string, known: readonly string[], path: string): string {
  if (known.length === 0) return `There are no servers in ${path}.`;
  const alike = nearest(name, known);
  const hint = alike.length > 0 ? `Did you mean ${alike.join(" or ")}?` : `It has: ${known.join(", ")}.`;
  return `There is no "${name}" in ${path}; nothing was changed. ${hint}`;
}
