/**
 * `metamcp tools`: shows the tools that a client sees and their token cost, compared with all tools of all
 * servers; or the tools of one server; or which tools to pin.
 */

import { summarize } from "../catalog/summary.ts";
import { UsageError } from "../config/command-line.ts";
import type { Settings } from "../config/flags.ts";
import type { Engine } from "../engine/engine.ts";
import { PERSONAL } from "../kernel/principal.ts";
import { toRaw } from "../kernel/raw.ts";
import { costOf } from "../kernel/tokens.ts";
import { modelBytes, toolBytes } from "../rpc/model-bytes.ts";
import { allPages } from "../surface/all-pages.ts";
import { loadSurface } from "../surface/load-surface.ts";
import { missingPinned } from "../surface/pinned/missing.ts";
import { requireServer } from "../surface/require-server.ts";
import type { Surface } from "../surface/surface.ts";
import type { Command } from "./command.ts";
import { person } from "./person.ts";
import { spin } from "./spinner.ts";
import { showSuggestions } from "./suggest-pinned.ts";
import { show, table } from "./table.ts";
import { withEngine } from "./with-engine.ts";

const DESCRIPTION_LENGTH = 200;

export const command: Command = {
  name: "tools",
  usage: "tools [SERVER]",
  summary: "Show the tools a client sees and their token cost, or all tools of one server.",
  flags: {
    suggest: { kind: "switch", env: false, help: "Show which tools you call most and could pin." },
  },
  takes: [0, 1],
  async run(given) {
    const [server] = given.positionals;
    const { suggest } = given.settings as Settings & { readonly suggest?: boolean };
    if (suggest) {
      if (server !== undefined) throw new UsageError("Usage: metamcp tools --suggest");
      return await withEngine(given, (engine, config) =>
        showSuggestions(engine, config, given.settings.json),
      );
    }
    return await withEngine(given, async (engine) => {
      if (server === undefined) await showSurface(engine, given.settings);
      else await showServer(engine, server, given.settings.json);
      return 0;
    });
  },
};

async function showSurface(engine: Engine, { surface, json }: Settings): Promise<void> {
  const { scope } = engine;
  const clientSurface = engine.open({ id: PERSONAL, surface: await loadSurface(surface) }).newSurface();
  const spinner = spin("asking your servers for their tools …");
  const tools = await allTools(clientSurface).finally(() => spinner.stop());
  const instructions = Buffer.byteLength(clientSurface.instructions(person));
  const shown = tools.map((tool) => ({
    name: tool.name,
    title: tool.title ?? "",
    ...costOf(modelBytes(toRaw(tool))),
  }));
  const view = scope.view(person);
  await view.loadCached();
  const listings = [...view.snapshot.listings.values()];
  const missing = missingPinned(scope, person);
  const behind = listings.flatMap(({ tools: all }) => all.map(toolBytes));
  const answer = {
    surface,
    tools: shown,
    instructions: costOf(instructions),
    total: { tools: shown.length, ...costOf(shown.reduce((sum, { bytes }) => sum + bytes, instructions)) },
    behind: { tools: behind.length, ...costOf(behind.reduce((sum, bytes) => sum + bytes, 0)) },
    ...(surface !== "aggregate" && missing.length > 0 && { missing }),
  };
  show(answer, json, () =>
    [
      table(
        ["TOOL", "BYTES", "TOKENS", "WHAT IT IS"],
        [...shown, { name: "instructions", title: "", ...costOf(instructions) }].map(
          ({ name, bytes, tokens, title }) => [name, String(bytes), `~${tokens}`, title],
        ),
      ),
      `\nA model gets ${answer.total.bytes} bytes, about ${answer.total.tokens} tokens, in every conversation.`,
      serverCostText(answer.behind),
      ...(answer.missing ?? []).map(({ id, reason }) => `"pinned": ${id} is not listed: ${reason}.`),
    ].join("\n"),
  );
}

async function allTools(clientSurface: Surface): Promise<readonly ListedTool[]> {
  await clientSurface.prepare?.(person);
  return await allPages<ListedTool>(clientSurface, "tools", person);
}

/** Starts the server if its tools are not known yet. */
async function showServer({ scope }: Engine, server: string, json: boolean): Promise<void> {
  requireServer(scope, server, person, '"metamcp list"');
  const spinner = spin(`asking ${server} for its tools …`);
  const [unknown] = await scope.loader.loadMissing([server], person).finally(() => spinner.stop());
  if (unknown) throw new Error(`${server} did not list its tools: ${unknown.reason}`);
  const tools = (scope.view(person).snapshot.listings.get(server)?.tools ?? []).map((tool) => ({
    name: tool.name,
    description: summarize(tool.description, DESCRIPTION_LENGTH),
    ...costOf(toolBytes(tool)),
  }));
  show({ server, tools }, json, () =>
    tools.length === 0
      ? `${server} has no tools that you may use.`
      : [
          table(
            ["TOOL", "TOKENS", "WHAT IT DOES"],
            tools.map(({ name, tokens, description }) => [name, `~${tokens}`, description]),
          ),
          `\n"metamcp describe ${server} TOOL" shows the inputs of one.`,
        ].join("\n"),
  );
}

function serverCostText({ tools, tokens }: { tools: number; tokens: number }): string {
  return tools === 0
    ? 'The tools of your servers are not known yet. To list them, run "metamcp doctor", which starts every server once.'
    : `The ${tools} known tools of your servers would cost about ${tokens} tokens.`;
}

interface ListedTool {
  readonly name: string;
  readonly title?: string;
}
