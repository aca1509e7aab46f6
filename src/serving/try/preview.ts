/**
 * The preview of an endpoint: what a client would see and what that costs, read from its surface as a client
 * does.
 */

import type { Preview } from "../../gateway/try-control.ts";
import type { Origin } from "../../kernel/call.ts";
import { toRaw } from "../../kernel/raw.ts";
import { costOf } from "../../kernel/tokens.ts";
import { modelBytes, toolBytes } from "../../rpc/model-bytes.ts";
import { METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { allPages } from "../../surface/all-pages.ts";
import type { SurfaceName } from "../../surface/kind.ts";
import { CALL } from "../../surface/meta/tools.ts";
import { missingPinned } from "../../surface/pinned/missing.ts";
import type { ScopeCatalog, ScopeFacts } from "../../surface/scope.ts";
import type { ListName, Surface } from "../../surface/surface.ts";

interface Shown {
  readonly name: string;
  readonly [member: string]: unknown;
}

export async function previewOf(
  surface: Surface,
  origin: Origin,
  { scope, chosen }: { readonly scope: ScopeCatalog & ScopeFacts; readonly chosen: SurfaceName },
): Promise<Preview> {
  await surface.prepare?.(origin);
  const items = await allPages<Shown>(surface, "tools", origin);
  const text = surface.instructions(origin);
  const instructions = Buffer.byteLength(text);
  const tools = items.map((definition) => ({ definition, ...costOf(modelBytes(toRaw(definition))) }));
  const count = (list: ListName): Promise<number> => countOf(surface, list, origin);
  const [prompts, resources, templates] = [
    await count("prompts"),
    await count("resources"),
    await count("templates"),
  ];
  const shown = chosen === "auto" ? decided(items) : chosen;
  return {
    surface: shown,
    instructions: { text, ...costOf(instructions) },
    tools,
    total: costOf(tools.reduce((sum, { bytes }) => sum + bytes, instructions)),
    full: fullOf(scope, origin),
    prompts,
    resources,
    templates,
    unknown: [...scope.specs().keys()].filter(
      (server) => scope.has(server, origin) && !scope.view(origin).snapshot.listings.has(server),
    ),
    unavailable: unavailableIn(scope, origin),
    missing: shown === "aggregate" ? [] : missingPinned(scope, origin),
  };
}

/** Zero for a surface without such a list. */
async function countOf(surface: Surface, list: ListName, origin: Origin): Promise<number> {
  try {
    return (await allPages(surface, list, origin)).length;
  } catch (error) {
    if (error instanceof RpcError && error.code === METHOD_NOT_FOUND) return 0;
    throw error;
  }
}

function decided(tools: readonly Shown[]): "meta" | "aggregate" {
  return tools.some(({ name }) => name === CALL.name) ? "meta" : "aggregate";
}

function fullOf(scope: ScopeCatalog, origin: Origin): Preview["full"] {
  const listings = [...scope.view(origin).snapshot.listings.values()];
  const tools = listings.flatMap((listing) => listing.tools);
  const bytes = tools.reduce((sum, tool) => sum + toolBytes(tool), 0);
  return { tools: tools.length, ...costOf(bytes) };
}

function unavailableIn(scope: ScopeCatalog, origin: Origin): Preview["unavailable"] {
  return scope
    .servers(origin)
    .flatMap(({ name: server, state, reason = state }) => (state === "failed" ? [{ server, reason }] : []));
}
