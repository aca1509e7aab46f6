/**
 * The layers of one scope: around calls to each server, around requests, and on lists. Composed pipelines are
 * cached until an owner of layers changes.
 */

import type { CatalogView } from "../catalog/catalog-view.ts";
import type { Call, Handler } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { MetaMcpError } from "../kernel/errors.ts";
import { isOtherMethod } from "../kernel/methods.ts";
import { LARGE_BYTES } from "../kernel/own-turn.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Raw } from "../kernel/raw.ts";
import type { ToolFacts } from "../kernel/tool-facts.ts";
import type { LayerRequest, PlacedLayer } from "../middleware/layer.ts";
import { hiddenBy, hidesServer, listKey, OUT_OF_TIERS, outOfTiers } from "../middleware/list-rules.ts";
import { type Pipeline, pipelineOf } from "../middleware/pipeline.ts";
import { notPermitted, toolNotFound, tooMany } from "../middleware/refusals.ts";
import { type Answering, RequestLayers } from "../middleware/request-layers.ts";
import type { SurfaceLayers } from "./layered-requests.ts";
import type { HidableTool, ListLayers } from "./layered-scope.ts";

/** Where layers are configured. An `Owner` is a config object with a list of layers. */
export interface LayerSource<Owner> {
  /** Another object whenever anything here may have changed. */
  version(): object;
  /** All servers that calls may go to, by the engine's names. */
  servers(): readonly string[];
  /**
   * The owners of layers around calls to this server, or around client requests if no server is given;
   * outermost first.
   */
  owners(server?: string): readonly Owner[];
  layers(owners: readonly Owner[]): readonly PlacedLayer[];
  /** Undefined for names that are unknown here. `uuid` is the engine's name of the server. */
  facts(view: CatalogView, tool: HidableTool): (ToolFacts & { readonly uuid: string }) | undefined;
}

export interface ScopeLayerParts<Owner> {
  readonly source: LayerSource<Owner>;
  /** The innermost handler, inside all layers. */
  readonly handler: Handler;
  readonly clock: Clock;
}

/** What limits know about a call. */
export type RefusedCall = Pick<Call, "method" | "tool" | "origin">;

interface Composed<Owner> {
  /** The last version for which this entry was found to be current. */
  version: object;
  readonly owners: readonly Owner[];
  readonly layers: readonly PlacedLayer[];
  readonly handler: Pipeline;
  /** Whether a call may wait in one of the layers. */
  readonly waits: boolean;
}

export class ScopeLayers<Owner> implements ListLayers, SurfaceLayers {
  readonly #parts: ScopeLayerParts<Owner>;
  /** Keyed by server. */
  readonly #composed = new Map<string, Composed<Owner>>();
  #requests:
    | { version: object; readonly owners: readonly Owner[]; readonly layers: RequestLayers }
    | undefined;
  #seen: object | undefined;
  #lists: readonly PlacedLayer[] = [];
  #rules: object = {};
  #keys = new WeakMap<Principal, KeyedRights>();

  constructor(parts: ScopeLayerParts<Owner>) {
    this.#parts = parts;
  }

  /** The layers around calls to this server. */
  of(server: string): readonly PlacedLayer[] {
    return this.#of(server).layers;
  }

  /** `call` has the server's names. */
  handle(call: Call, facts: ToolFacts): Promise<Raw> {
    const { server, permissions, origin } = call;
    const { principal } = origin;
    if (outOfTiers(facts, principal))
      return Promise.reject(isOtherMethod(call.method) ? notPermitted(call) : toolNotFound(OUT_OF_TIERS));
    const composed = this.#of(server);
    if (composed.waits && permissions) {
      const rights = rightsOf(principal);
      permissions.isCurrent = () => this.#of(server) === composed && sameRights(rights, principal);
    }
    return composed.handler(call, facts);
  }

  /** The layers around client requests, which belong to no server. */
  get requests(): RequestLayers {
    const { source } = this.#parts;
    const version = source.version();
    if (this.#requests?.version === version) return this.#requests.layers;
    const owners = source.owners();
    if (this.#requests && isSame(this.#requests.owners, owners)) this.#requests.version = version;
    else this.#requests = { version, owners, layers: new RequestLayers(source.layers(owners)) };
    return this.#requests.layers;
  }

  hidesOwn(tool: string, principal: Principal): boolean {
    return this.requests.hidesOwn(tool, principal);
  }

  request(request: LayerRequest, answer: Answering): Promise<Raw> {
    return this.requests.handle(request, answer);
  }

  get rules(): object {
    this.#refreshLists();
    return this.#rules;
  }

  keyOf(principal: Principal): string | undefined {
    this.#refreshLists();
    if (this.#lists.length === 0 && principal.tiers === undefined) return undefined;
    let known = this.#keys.get(principal);
    if (!known || !sameRights(known, principal)) {
      known = { ...rightsOf(principal), key: listKey(this.#lists, principal) };
      this.#keys.set(principal, known);
    }
    return known.key;
  }

  isOpen({ tiers }: Principal): boolean {
    const { source } = this.#parts;
    return tiers === undefined && [...source.servers()].every((server) => this.of(server).length === 0);
  }

  /**
   * Counts a call that was refused before it reached the layers, for example because there is no such tool.
   * Returns the refusal if the caller is over a limit. `server` is undefined if it is not known.
   */
  countRefused(call: RefusedCall, server: string | undefined): MetaMcpError | undefined {
    const { source } = this.#parts;
    const layers = server === undefined ? source.layers(source.owners()) : this.of(server);
    const limits = layers.flatMap(({ limit }) => limit ?? []);
    const made = { ...call, server: server ?? "" } as Call;
    const wait = Math.max(0, ...limits.map((limit) => limit.wait(made)));
    if (wait > 0) return tooMany(made, wait);
    for (const limit of limits) limit.take(made);
    return undefined;
  }

  /** See `Scope.maskedArguments`. `server` is undefined if it is not known. */
  maskedArguments(args: Raw, server: string | undefined): Raw | undefined {
    // Nobody must wait for a walk through the large arguments of a call that is refused.
    if (args.length > LARGE_BYTES) return undefined;
    const { source } = this.#parts;
    const layers = server === undefined ? source.layers(source.owners()) : this.of(server);
    if (layers.some((layer) => layer.call && !layer.explain)) return undefined;
    return layers.reduce((masked, layer) => layer.masks?.(masked) ?? masked, args);
  }

  hides(view: CatalogView, tool: HidableTool, principal: Principal): boolean {
    const facts = this.#parts.source.facts(view, tool);
    // Names that are unknown here are refused by the scope.
    return facts !== undefined && hiddenBy(this.of(facts.uuid), facts, principal) !== undefined;
  }

  hidesServer(view: CatalogView, server: string, principal: Principal): boolean {
    const facts = this.#parts.source.facts(view, { server, name: "", listed: undefined });
    return facts !== undefined && hidesServer(this.of(facts.uuid), facts, principal);
  }

  /** Collects the layers that decide about lists, once per version. */
  #refreshLists(): void {
    const { source } = this.#parts;
    const version = source.version();
    if (this.#seen === version) return;
    this.#seen = version;
    const servers = new Set(source.servers());
    for (const server of this.#composed.keys()) if (!servers.has(server)) this.#composed.delete(server);
    const before = this.#lists;
    this.#lists = [...new Set([...servers].flatMap((server) => this.of(server).filter(({ list }) => list)))];
    // The same layers may judge differently, because their inputs may have changed with the version.
    if (this.#lists.length > 0 || before.length > 0) this.#rules = {};
    if (!isSame(before, this.#lists)) this.#keys = new WeakMap();
  }

  #of(server: string): Composed<Owner> {
    const { source, handler, clock } = this.#parts;
    const version = source.version();
    const known = this.#composed.get(server);
    if (known?.version === version) return known;
    const owners = source.owners(server);
    if (known && isSame(known.owners, owners)) {
      known.version = version;
      return known;
    }
    const layers = source.layers(owners);
    const waits = layers.some((layer) => layer.waits);
    const composed = { version, owners, layers, waits, handler: pipelineOf(layers, handler, clock) };
    this.#composed.set(server, composed);
    return composed;
  }
}

/**
 * What layers judge a principal by. It may change while the principal object of an account stays the same.
 */
interface Rights extends Pick<Principal, "roles" | "groups"> {
  readonly name?: string | undefined;
  readonly claimed?: boolean | undefined;
}

interface KeyedRights extends Rights {
  readonly key: string | undefined;
}

function rightsOf({ name, claimed, roles, groups }: Principal): Rights {
  return { name, claimed, roles, groups };
}

function sameRights(a: Rights, b: Rights): boolean {
  return (
    a.name === b.name && a.claimed === b.claimed && isSame(a.roles, b.roles) && isSame(a.groups, b.groups)
  );
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((one, at) => one === b[at]));
}
