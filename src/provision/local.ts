/** Whether the servers that are there can do it: the catalog's own search, and how sure it must be. */
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
  /** Empty where nothing fits well enough. */
  readonly tools: readonly LocalTool[];
  /** Of the best of them. */
  readonly fit: number;
  /** Servers that could not be looked at: one of them may fit. */
  readonly unknown: readonly UnknownServer[];
}

export interface LocalParts {
  /** What who asks sees of the tools there are. */
  readonly view: (origin: Origin) => Pick<CatalogView, "snapshot" | "search">;
  readonly loader: Pick<CatalogLoader, "learn">;
  /** Those that can be used. */
  readonly servers: () => readonly ServerId[];
}

/** Measured on the golden questions, with and without the servers that answer them; see docs/provisioning.md. */
const LEAST_FIT = 0.47;
/** Beside one that fits, what fits less may be of use. */
const BESIDE = 0.3;
const MOST = 5;
const DESCRIPTION_LENGTH = 200;

export async function lookLocally(
  { view, loader, servers }: LocalParts,
  queries: readonly string[],
  origin: Origin,
): Promise<LocalAnswer> {
  const unknown = await loader.learn(servers(), origin);
  const { snapshot, search } = view(origin);
  const scope = (server: ServerId): boolean => snapshot.listings.has(server);
  const answers = await Promise.all(
    queries.map(async (query) => await search.search(query, { limit: MOST, scope })),
  );
  const hits = answers.toSorted((a, b) => bestFit(b) - bestFit(a))[0] ?? [];
  const fit = bestFit(hits);
  if (fit < LEAST_FIT) return { tools: [], fit, unknown };
  const tools = hits.flatMap((hit) => {
    const tool = snapshot.tool(hit.server, hit.name);
    return tool && fitOf(hit) >= BESIDE ? [{ ...brief(tool), confidence: hit.confidence }] : [];
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
