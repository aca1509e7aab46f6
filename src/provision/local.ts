/** Searches the configured servers for a task and decides whether the result is good enough. */
import type { CatalogLoader, UnknownServer } from "../catalog/catalog-loader.ts";
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { Hit } from "../catalog/search/strategy.ts";
import { signatureOf } from "../catalog/signature.ts";
import { summarize } from "../catalog/summary.ts";
import type { Tool } from "../catalog/tool.ts";
import type { Origin, ServerId } from "../kernel/call.ts";

export interface LocalTool {
  readonly tool: string;
  readonly server: ServerId;
  readonly description: string;
  readonly confidence: number;
  readonly signature: string;
}

export interface LocalAnswer {
  /** Empty if nothing fits well enough. */
  readonly tools: readonly LocalTool[];
  /** The fit of the best tool. */
  readonly fit: number;
  /** Servers that could not be searched and may fit. */
  readonly unknown: readonly UnknownServer[];
}

export interface LocalParts {
  /** The part of the catalog that the caller sees. */
  readonly view: (origin: Origin) => Pick<CatalogView, "snapshot" | "search">;
  readonly loader: Pick<CatalogLoader, "loadMissing">;
  /** The usable servers. */
  readonly servers: () => readonly ServerId[];
}

/**
 * Measured on the golden questions, with and without the servers that answer them; see docs/provisioning.md.
 */
const MIN_FIT = 0.42;
/** If one tool reaches MIN_FIT, tools above this lower limit are returned too. */
const MIN_FIT_OF_OTHERS = 0.3;
const MAX_TOOLS = 5;
const DESCRIPTION_LENGTH = 200;

export async function searchLocal(
  { view, loader, servers }: LocalParts,
  queries: readonly string[],
  origin: Origin,
): Promise<LocalAnswer> {
  const unknown = await loader.loadMissing(servers(), origin);
  const { snapshot, search } = view(origin);
  const scope = (server: ServerId): boolean => snapshot.listings.has(server);
  const answers = await Promise.all(
    queries.map(async (query) => await search.search(query, { limit: MAX_TOOLS, scope })),
  );
  const hits = answers.toSorted((a, b) => bestFit(b) - bestFit(a))[0] ?? [];
  const fit = bestFit(hits);
  if (fit < MIN_FIT) return { tools: [], fit, unknown };
  const tools = hits.flatMap((hit) => {
    const tool = snapshot.tool(hit.server, hit.name);
    return tool && fitOf(hit) >= MIN_FIT_OF_OTHERS ? [{ ...brief(tool), confidence: hit.confidence }] : [];
  });
  return { tools, fit, unknown };
}

function fitOf({ fit, confidence }: Hit): number {
  return fit ?? confidence;
}

function bestFit(hits: readonly Hit[]): number {
  return Math.max(0, ...hits.map(fitOf));
}

function brief({ name, server, description, inputSchema }: Tool): Omit<LocalTool, "confidence"> {
  return {
    tool: name,
    server,
    description: summarize(description, DESCRIPTION_LENGTH),
    signature: signatureOf(name, inputSchema),
  };
}
