/** The tools of servers, namespaces and endpoints, as the admin API shows them. */
import type { Listing } from "../../catalog/catalog.ts";
import type { Tool } from "../../catalog/tool.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Compiled } from "../../gateway/compile.ts";
import type { ToolDefinitions, ToolPlace } from "../../gateway/control.ts";
import { type LayerOwner, placedLayers } from "../../gateway/endpoint/placed-layers.ts";
import type { Judging } from "../../gateway/view/judged-row.ts";
import { shownTool } from "../../gateway/view/shown-tool.ts";
import type { ToolRow } from "../../gateway/view/tool-row.ts";
import { endpointRows, namespaceRows, type RowSources, serverRows } from "../../gateway/view/tool-rows.ts";
import { type TableRow, tableRows } from "../../gateway/view/tool-table.ts";
import type { Principal } from "../../kernel/principal.ts";
import { fromRaw } from "../../kernel/raw.ts";
import type { CompiledLayers } from "../../middleware/compiled-layers.ts";
import type { PlacedLayer } from "../../middleware/layer.ts";
import type { ServerReachability } from "../live/reachability.ts";

export interface ToolListParts {
  readonly engine: Pick<Engine, "catalog" | "pins">;
  readonly reach: Pick<ServerReachability, "fault">;
  readonly compiledLayers: CompiledLayers;
  readonly compiled: () => Compiled;
}

export class ToolLists {
  readonly #parts: ToolListParts;
  /** The tools of servers before their last change. Shown while a server cannot be reached. */
  readonly #before = new Map<string, Listing>();

  constructor(parts: ToolListParts) {
    this.#parts = parts;
  }

  /** Must be called before a server is changed or removed. */
  remember(server: string): void {
    const listing = this.#listed(server);
    if (listing) this.#before.set(server, listing);
    if (!this.#parts.compiled().servers.has(server)) this.#before.delete(server);
  }

  rows({ kind, uuid }: ToolPlace, as?: Principal): readonly ToolRow[] {
    const { servers, namespaces, endpoints } = this.#parts.compiled();
    const sources = this.#sources({ kind, uuid }, as);
    const [server, namespace, endpoint] = [servers.get(uuid), namespaces.get(uuid), endpoints.get(uuid)];
    if (kind === "server") return server ? serverRows(server, sources) : [];
    if (kind === "namespace") return namespace ? namespaceRows(namespace, sources) : [];
    return endpoint ? endpointRows(endpoint, sources) : [];
  }

  /** The definitions of a tool that `rows` returned. */
  definitions(
    { kind, uuid }: ToolPlace,
    { server, tool: name }: Pick<ToolRow, "server" | "tool">,
  ): ToolDefinitions {
    const tool = this.#listingOf(server)?.tools.find((one) => one.name === name);
    if (!tool) return {};
    const { namespaces, endpoints } = this.#parts.compiled();
    const parts =
      kind === "endpoint" ? endpoints.get(uuid)?.parts.map(({ part }) => part) : namespaces.get(uuid)?.parts;
    const rule = parts?.find((part) => part.server === server)?.rules.get(name);
    const shown = shownTool(tool, rule);
    const definition = definitionOf(shown);
    return shown === tool ? { definition } : { definition, own: definitionOf(tool) };
  }

  table(): readonly TableRow[] {
    const { pins } = this.#parts.engine;
    return tableRows(this.#parts.compiled(), {
      listingOf: (server) => this.#listingOf(server),
      changesOf: (server) => pins.review(server).changes.filter(({ of }) => of === "tools"),
    });
  }

  #sources(place: ToolPlace, as: Principal | undefined): RowSources {
    const judging: Judging = { layersOf: (server) => this.#layersOf(place, server), as };
    return {
      compiled: this.#parts.compiled(),
      listingOf: (server) => this.#listingOf(server),
      unreachable: (server) => this.#parts.reach.fault(server),
      judging,
    };
  }

  #listingOf(server: string): Listing | undefined {
    return this.#listed(server) ?? this.#before.get(server);
  }

  #listed(server: string): Listing | undefined {
    return this.#parts.engine.catalog.snapshot.listings.get(server);
  }

  /** For a server alone, only its own layers apply. */
  #layersOf({ kind, uuid }: ToolPlace, server: string): readonly PlacedLayer[] {
    const { settings, servers, namespaces, endpoints } = this.#parts.compiled();
    const own = servers.get(server)?.object;
    const owners = (): readonly LayerOwner[] => {
      if (kind === "server") return [own];
      if (kind === "namespace") return [settings, namespaces.get(uuid)?.object, own];
      const endpoint = endpoints.get(uuid);
      const placed = endpoint?.parts.find(({ part }) => part.server === server);
      return [settings, endpoint?.object, placed?.namespace.object, own];
    };
    return placedLayers(this.#parts.compiledLayers, owners());
  }
}

function definitionOf({ definition }: Pick<Tool, "definition">): Readonly<Record<string, unknown>> {
  return fromRaw(definition) as Readonly<Record<string, unknown>>;
}
