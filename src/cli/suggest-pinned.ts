/** `metamcp tools --suggest`: the tools with the most stored calls, which are worth pinning. */
import type { Config } from "../config/spec.ts";
import type { Engine } from "../engine/engine.ts";
import { costOf } from "../kernel/tokens.ts";
import { writeToolId } from "../kernel/tool-id.ts";
import { toolBytes } from "../rpc/model-bytes.ts";
import type { ExitCode } from "./command.ts";
import { person } from "./person.ts";
import { show, table } from "./table.ts";

/** More would cost as much as they save. */
const MOST = 5;

export async function showSuggestions(
  { scope }: Engine,
  { examplesFromUsage, path }: Config,
  json: boolean,
): Promise<ExitCode> {
  const view = scope.view(person);
  await view.loadCached();
  const pinned = new Set(scope.pinned().map(writeToolId));
  const used = await Promise.all(
    [...view.snapshot.listings]
      .flatMap(([server, { tools }]) => tools.map((tool) => ({ server, tool })))
      .map(async ({ server, tool }) => ({
        id: writeToolId({ server, tool: tool.name }),
        calls: (await scope.usageOf(server, tool.name)).length,
        ...costOf(toolBytes(tool)),
      })),
  );
  const suggested = used
    .filter(({ id, calls }) => calls > 0 && !pinned.has(id))
    .toSorted((a, b) => b.calls - a.calls || a.bytes - b.bytes)
    .slice(0, MOST);
  const ids = suggested.map(({ id }) => id);
  show({ recorded: examplesFromUsage, suggested }, json, () => {
    if (!examplesFromUsage)
      return `MetaMCP records no calls. To let it, add to ${path}:\n  "examples": { "fromUsage": true }`;
    if (suggested.length === 0) return "No calls of tools that are not pinned are recorded yet.";
    return [
      table(
        ["TOOL", "STORED CALLS", "TOKENS"],
        suggested.map(({ id, calls, tokens }) => [id, String(calls), `~${tokens}`]),
      ),
      `\nTo list them in full in every conversation, add to ${path}:`,
      `  "pinned": ${JSON.stringify([...pinned, ...ids])}`,
    ].join("\n");
  });
  return 0;
}
