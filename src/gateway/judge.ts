/**
 * Judges calls by any compiled config, whether it is served or not: a change can be tried before it is
 * stored. Compiles its own layers, so it counts nothing and no earlier call counts.
 */
import type { Listing } from "../catalog/catalog.ts";
import { IndexedListing } from "../catalog/snapshot.ts";
import type { Origin, Uplink } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Principal } from "../kernel/principal.ts";
import { EMPTY_OBJECT, toRaw } from "../kernel/raw.ts";
import type { ToolAnnotations } from "../kernel/tool-facts.ts";
import { CompiledLayers } from "../middleware/compiled-layers.ts";
import type { LayerRegistry } from "../middleware/registry.ts";
import type { Compiled, CompiledEndpoint } from "./compile.ts";
import { type EndpointLayers, endpointLayers } from "./endpoint/endpoint-layers.ts";
import { explainTool, unknownTool } from "./endpoint/explain-tool.ts";
import type { Explained } from "./endpoint/explanation.ts";
import { endpointRows } from "./view/tool-rows.ts";
import { type ListingOf, Views } from "./view/views.ts";

export interface JudgeParts {
  readonly layers: LayerRegistry;
  readonly clock: Clock;
  /** The tools that servers list; undefined if they are not known. */
  readonly listingOf: ListingOf;
}

export interface JudgedCall {
  /** `server:tool`. */
  readonly tool: string;
  readonly args?: Readonly<Record<string, unknown>> | undefined;
}

const NOBODY: Uplink = { notify() {}, request: () => Promise.reject(new Error("nobody is asked")) };

export class Judge {
  readonly #compiled: Compiled;
  readonly #parts: JudgeParts;
  readonly #compiledLayers: CompiledLayers;
  readonly #views = new Views();
  /** By uuid of the endpoint. */
  readonly #layers = new Map<string, EndpointLayers>();

  constructor(compiled: Compiled, parts: JudgeParts) {
    this.#compiled = compiled;
    this.#parts = parts;
    this.#compiledLayers = new CompiledLayers(parts.layers, { clock: parts.clock });
  }

  async explain(
    endpoint: CompiledEndpoint,
    principal: Principal,
    { tool, args }: JudgedCall,
  ): Promise<Explained> {
    const unlisted = this.#unlistedFor(endpoint, tool);
    if (!unlisted) return await this.#explain(endpoint, principal, { tool, args }, this.#parts.listingOf);
    const explained: Explained[] = [];
    for (const annotations of EACH_TIER) {
      const listing = assumed(unlisted.uuid, tool.slice(unlisted.name.length + 1), annotations);
      const listingOf: ListingOf = (uuid) => (uuid === unlisted.uuid ? listing : this.#parts.listingOf(uuid));
      explained.push(await this.#explain(endpoint, principal, { tool, args }, listingOf));
    }
    const [first] = explained;
    const same = first && explained.every((one) => one.outcome === first.outcome);
    return same ? first : unknownTool([unlisted.name]);
  }

  async #explain(
    endpoint: CompiledEndpoint,
    principal: Principal,
    { tool, args = {} }: JudgedCall,
    listingOf: ListingOf,
  ): Promise<Explained> {
    const compiled = this.#compiled;
    const layers = this.#layersOf(endpoint);
    const view = this.#views.ofEndpoint(endpoint, listingOf);
    const judging = { layersOf: (server: string) => layers.of(server), as: principal };
    const rows = () => endpointRows(endpoint, { compiled, listingOf, judging });
    const origin: Origin = {
      endpoint: endpoint.object.uuid,
      principal,
      session: "",
      sessionless: true,
      surface: "preview",
      capabilities: EMPTY_OBJECT,
      uplink: NOBODY,
    };
    return await explainTool({ compiled, layers, view }, { tool, args, rows, unchecked: true }, origin);
  }

  #layersOf(endpoint: CompiledEndpoint): EndpointLayers {
    const { uuid } = endpoint.object;
    const known = this.#layers.get(uuid);
    if (known) return known;
    const made = endpointLayers(
      {
        compiledLayers: this.#compiledLayers,
        compiled: () => this.#compiled,
        current: () => endpoint,
        clock: this.#parts.clock,
      },
      () => Promise.reject(new Error("nothing is called")),
    );
    this.#layers.set(uuid, made);
    return made;
  }

  /** The server of the tool, if its tools are not known. */
  #unlistedFor({ parts }: CompiledEndpoint, reference: string): Named | undefined {
    for (const { part } of parts) {
      const name = this.#compiled.servers.get(part.server)?.object.name ?? "";
      if (reference.startsWith(`${name}:`) && !this.#parts.listingOf(part.server))
        return { uuid: part.server, name };
    }
    return undefined;
  }
}

interface Named {
  readonly uuid: string;
  readonly name: string;
}

/**
 * A server that has not been listed yet, such as a new one, is judged as if it had the tool, of each kind.
 * Otherwise no test could stand in the document that adds the server.
 */
const EACH_TIER: readonly ToolAnnotations[] = [{}, { readOnlyHint: true }, { destructiveHint: true }];

function assumed(server: string, name: string, annotations: ToolAnnotations): Listing {
  const inputSchema = { type: "object" };
  const tool = {
    server,
    name,
    title: undefined,
    description: "",
    annotations,
    definition: toRaw({ name, inputSchema, annotations }),
    inputSchema: toRaw(inputSchema),
  };
  return new IndexedListing({ tools: [tool], source: "cache", about: {} });
}
