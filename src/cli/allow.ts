/**
 * `metamcp allow`: shows which commands and addresses the `.mcp.json` of this folder uses, and stores the
 * permission. Starts nothing.
 */

import { resolve } from "node:path";
import { allow, FOUND_NAME, folderConsent, type Withheld } from "../config/allowed.ts";
import { UsageError } from "../config/command-line.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/spec.ts";
import { homeFolder } from "../home/home.ts";
import { visible } from "../kernel/visible.ts";
import type { Command, ExitCode } from "./command.ts";
import { canAsk, confirmed } from "./confirm.ts";
import { configLayers } from "./layers.ts";
import { print, printError } from "./print.ts";
import { show } from "./table.ts";

const flags = { yes: { kind: "switch", env: false, help: "Do not ask." } } as const;

export const command: Command = {
  name: "allow",
  usage: "allow",
  summary: `Review what the ${FOUND_NAME} of this folder runs, and allow it.`,
  flags,
  takes: [0, 0],
  async run({ settings, given }) {
    const { yes, json } = settings as typeof settings & { yes: boolean };
    const named = given.get("config");
    if (named !== undefined)
      throw new UsageError(
        `${named} names this file, so it needs no permission. "metamcp allow" is only for the ${FOUND_NAME} of a folder.`,
      );
    const path = resolve(FOUND_NAME);
    const { env } = process;
    const { withheld, exists } = await loadConfig(path, {
      env,
      consent: folderConsent(undefined, process.cwd(), homeFolder(env)),
      layers: configLayers(settings).check,
    });
    if (!withheld) {
      const text = exists ? `${path} is already allowed, or runs nothing.` : `There is no ${path}.`;
      show({ config: path, exists, allowed: exists, runs: [] }, json, () => text);
      return exists ? 0 : 1;
    }
    if (!json) print(overview(withheld));
    const agreed = yes || (!json && canAsk && (await confirmed("Allow this?")));
    if (agreed) await allow(withheld, homeFolder(env));
    show(answer(withheld, agreed), json, () => outcome(agreed));
    return exitCode(agreed, json);
  },
};

function exitCode(agreed: boolean, json: boolean): ExitCode {
  if (agreed) return 0;
  return json || !canAsk ? 2 : 1;
}

function answer({ path, folder, runs }: Withheld, allowed: boolean): object {
  return {
    config: path,
    exists: true,
    folder,
    allowed,
    runs: runs.map(({ name, shown }) => ({ name, shown })),
  };
}

function overview({ path, runs }: Withheld): string {
  const servers = runs.flatMap(({ name, shown }) => [visible(name), ...shown.map((line) => `  ${line}`)]);
  return [`${path} would do this, with all your permissions:`, "", ...servers, ""].join("\n");
}

function outcome(agreed: boolean): string {
  if (agreed)
    return "Allowed. If the file changes what it runs or connects to, you are asked again. Running gateways pick this up within two seconds.";
  return canAsk
    ? "Not allowed: none of its servers will start."
    : "Not allowed: there is no terminal to ask on. To allow it without asking: metamcp allow --yes";
}

/** Asks for permission at the terminal, if there is one. Returns the config, read again after a yes. */
export async function allowedAtTerminal(config: Config, read: () => Promise<Config>): Promise<Config> {
  const { withheld } = config;
  if (!withheld || !canAsk) return config;
  printError(overview(withheld));
  if (!(await confirmed("MetaMCP found this file in the folder. Allow it?"))) return config;
  await allow(withheld, homeFolder(process.env));
  return await read();
}
