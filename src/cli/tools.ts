/** `metamcp tools`: what a client sees and what it costs, beside what all tools of all servers would cost. */
import { fromRaw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import type { Face } from "../surface/face.ts";
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
    return await withEngine(given, async (engine) => {
      const { scope } = engine;
      const { tools, bytes } = await listTools(engine.face());
      const shown = tools.map((tool) => cost(tool.name, tool.title ?? "", JSON.stringify(tool)));
      await scope.catalog.loadCached();
      const listings = [...scope.catalog.snapshot.listings.values()];
      const behind = listings.flatMap(({ tools: all }) => all.map((tool) => tool.definition.length));
      const answer = {
        surface: given.settings.surface,
        tools: shown,
        total: { tools: shown.length, ...sizeOf(bytes) },
        behind: { tools: behind.length, ...sizeOf(behind.reduce((sum, bytes) => sum + bytes, 0)) },
      };
      show(answer, given.settings.json, () =>
        [
          table(
            ["TOOL", "BYTES", "TOKENS", "WHAT IT IS"],
            shown.map(({ name, bytes, tokens, title }) => [name, String(bytes), `~${tokens}`, title]),
          ),
          `\nIn all ${answer.total.bytes} bytes, about ${answer.total.tokens} tokens, in every conversation.`,
          behindIt(answer.behind),
        ].join("\n"),
      );
      return 0;
    });
  },
};

function behindIt({ tools, tokens }: { tools: number; tokens: number }): string {
  return tools === 0
    ? 'No tool behind it is known yet: "metamcp doctor" starts every server once and finds out.'
    : `The ${tools} tools behind it that are known would cost about ${tokens} tokens.`;
}

interface Shown {
  readonly name: string;
  readonly title?: string;
}

/** All pages, as a client would read them. */
async function listTools(face: Face): Promise<{ tools: readonly Shown[]; bytes: number }> {
  const tools: Shown[] = [];
  let bytes = 0;
  for (let cursor: string | undefined; ; ) {
    const list = await face.handle({
      method: "tools/list",
      params: cursor === undefined ? undefined : toRaw({ cursor }),
      origin: person,
      signal: new CallSignal(),
      uplink: person.uplink,
    });
    const page = fromRaw(list) as { tools: readonly Shown[]; nextCursor?: string };
    tools.push(...page.tools);
    bytes += list.length;
    cursor = page.nextCursor;
    if (cursor === undefined) return { tools, bytes };
  }
}

function cost(name: string, title: string, definition: string) {
  return { name, title, ...sizeOf(Buffer.byteLength(definition)) };
}

function sizeOf(bytes: number) {
  return { bytes, tokens: Math.ceil(bytes / BYTES_PER_TOKEN) };
}
