/** `metamcp tools`: what a client sees and what it costs, beside what all tools of all servers would cost. */
import { fromRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { createMetaFace } from "../surface/meta/meta.ts";
import type { Command } from "./command.ts";
import { person, withEngine } from "./open.ts";
import { show, table } from "./table.ts";

/** Definitions are dense JSON: about four bytes per token with common tokenizers. */
const BYTES_PER_TOKEN = 4;

export const command: Command = {
  name: "tools",
  usage: "tools",
  summary: "Show what a client sees, and its token cost.",
  takes: [0, 0],
  async run(given) {
    return await withEngine(given, async ({ scope }) => {
      const list = await createMetaFace(scope).handle({
        method: "tools/list",
        params: undefined,
        origin: person,
        signal: new CallSignal(),
        uplink: person.uplink,
      });
      const { tools } = fromRaw(list) as { tools: readonly { name: string; title: string }[] };
      const shown = tools.map((tool) => cost(tool.name, tool.title, JSON.stringify(tool)));
      await scope.catalog.loadCached();
      const listings = [...scope.catalog.snapshot.listings.values()];
      const behind = listings.flatMap(({ tools: all }) => all.map((tool) => tool.definition.length));
      const answer = {
        surface: given.settings.surface,
        tools: shown,
        total: { tools: shown.length, ...sizeOf(list.length) },
        behind: { tools: behind.length, ...sizeOf(behind.reduce((sum, bytes) => sum + bytes, 0)) },
      };
      show(answer, given.settings.json, () =>
        [
          table(
            ["TOOL", "BYTES", "TOKENS", "WHAT IT IS"],
            shown.map(({ name, bytes, tokens, title }) => [name, String(bytes), `~${tokens}`, title]),
          ),
          `\nIn all ${answer.total.bytes} bytes, about ${answer.total.tokens} tokens, in every conversation.`,
          `The ${answer.behind.tools} tools behind it that are known would cost about ${answer.behind.tokens} tokens.`,
        ].join("\n"),
      );
      return 0;
    });
  },
};

function cost(name: string, title: string, definition: string) {
  return { name, title, ...sizeOf(Buffer.byteLength(definition)) };
}

function sizeOf(bytes: number) {
  return { bytes, tokens: Math.ceil(bytes / BYTES_PER_TOKEN) };
}
