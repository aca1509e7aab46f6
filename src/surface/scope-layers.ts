/** The layers of one scope: around calls to each of its servers, around requests, and on its lists. What is composed stays until one of the objects that have layers is another. */
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { Call, Handler } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Raw } from "../kernel/raw.ts";
import type { ToolFacts } from "../kernel/tool-facts.ts";
import type { LayerRequest, PlacedLayer } from "../middleware/layer.ts";
import { hiddenBy, listKey, outOfTiers } from "../middleware/list-side.ts";
import { type Pipeline, pipelineOf } from "../middleware/pipeline.ts";
import { notThere } from "../middleware/refusals.ts";
import { type Answering, RequestLayers } from "../middleware/request-layers.ts";
import type { HidableTool, ListSide } from "./layered-scope.ts";
import type { RequestSide } from "./layered-surface.ts";

/** Where layers are configured. `Owner`: what has a list of them. */
export interface LayerPlaces<Owner> {
  /** Another object once anything here may be different. */
  version(): object;
  /** All that calls may go to, as the engine names them. */
  servers(): readonly string[];
  /** Whose layers stand around calls to this server, or around requests of clients where none is given; the outermost first. */
  owners(server?: string): readonly Owner[];
  layers(owners: readonly Owner[]): readonly PlacedLayer[];
  /** Undefined where the names mean nothing here. `uuid`: the server, as the engine names it. */
  facts(view: CatalogView, tool: HidableTool): (ToolFacts & { readonly uuid: string }) | undefined;
}

export interface ScopeLayerParts<Owner> {
  readonly places: LayerPlaces<Owner>;
  /** What stands inside of all layers. */
  readonly handler: Handler;
  readonly clock: Clock;
}

interface Composed<Owner> {
  /** For which it was last found to be right. */
  version: object;
  readonly owners: readonly Owner[];
  readonly layers: readonly PlacedLayer[];
  readonly handler: Pipeline;
}

export class ScopeLayers<Owner> implements ListSide, RequestSide {
  readonly #parts: ScopeLayerParts<Owner>;
  /** By server. */
  readonly #composed = new Map<string, Composed<Owner>>();
  #requests:
    | { version: object; readonly owners: readonly Owner[]; readonly layers: RequestLayers }
    | undefined;
  #seen: object | undefined;
  #lists: readonly PlacedLayer[] = [];
  #rules: object = {};
  #keys = new WeakMap<Principal, Rights>();

  constructor(parts: ScopeLayerParts<Owner>) {
    this.#parts = parts;
  }

  /** Of calls that go to this server. */
  of(server: string): readonly PlacedLayer[] {
    return this.#of(server).layers;
  }

  /** `call`: as the server gets it. */
  handle(call: Call, facts: ToolFacts): Promise<Raw> {
    if (outOfTiers(facts, call.origin.principal)) return Promise.reject(notThere());
    return this.#of(call.server).handler(call, facts);
  }

  /** What clients ask of us concerns no server. */
  get requests(): RequestLayers {
    const { places } = this.#parts;
    const version = places.version();
    if (this.#requests?.version === version) return this.#requests.layers;
    const owners = places.owners();
    if (this.#requests && isSame(this.#requests.owners, owners)) this.#requests.version = version;
    else this.#requests = { version, owners, layers: new RequestLayers(places.layers(owners)) };
    return this.#requests.layers;
  }

  hidesOwn(tool: string, principal: Principal): boolean {
    return this.requests.hidesOwn(tool, principal);
  }

  request(request: LayerRequest, answer: Answering): Promise<Raw> {
    return this.requests.handle(request, answer);
  }

  get rules(): object {
    this.#look();
    return this.#rules;
  }

  keyOf(principal: Principal): string | undefined {
    this.#look();
    if (this.#lists.length === 0 && principal.tiers === undefined) return undefined;
    const { name, claimed, roles, groups } = principal;
    let known = this.#keys.get(principal);
    // Those of an account may change under the same principal.
    if (
      !known ||
      known.name !== name ||
      known.claimed !== claimed ||
      !isSame(known.roles, roles) ||
      !isSame(known.groups, groups)
    ) {
      known = { name, claimed, roles, groups, key: listKey(this.#lists, principal) };
      this.#keys.set(principal, known);
    }
    return known.key;
  }

  hides(view: CatalogView, tool: HidableTool, principal: Principal): boolean {
    const facts = this.#parts.places.facts(view, tool);
    // What means nothing here is for the scope to refuse.
    return facts !== undefined && hiddenBy(this.of(facts.uuid), facts, principal) !== undefined;
  }

  /** All of this scope that decide about lists, once for each version. */
  #look(): void {
    const { places } = this.#parts;
    const version = places.version();
    if (this.#seen === version) return;
    this.#seen = version;
    const servers = new Set(places.servers());
    for (const server of this.#composed.keys()) if (!servers.has(server)) this.#composed.delete(server);
    const before = this.#lists;
    this.#lists = [...new Set([...servers].flatMap((server) => this.of(server).filter(({ list }) => list)))];
    // What they judge by may be different where they are not.
    if (this.#lists.length > 0 || before.length > 0) this.#rules = {};
    if (!isSame(before, this.#lists)) this.#keys = new WeakMap();
  }

  #of(server: string): Composed<Owner> {
    const { places, handler, clock } = this.#parts;
    const version = places.version();
    const known = this.#composed.get(server);
    if (known?.version === version) return known;
    const owners = places.owners(server);
    if (known && isSame(known.owners, owners)) {
      known.version = version;
      return known;
    }
    const layers = places.layers(owners);
    const composed = { version, owners, layers, handler: pipelineOf(layers, handler, clock) };
    this.#composed.set(server, composed);
    return composed;
  }
}

/** What a principal was seen with, and what they share a view by. */
interface Rights extends Pick<Principal, "roles" | "groups"> {
  readonly name: string | undefined;
  readonly claimed: boolean | undefined;
  readonly key: string | undefined;
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((one, at) => one === b[at]));
}
