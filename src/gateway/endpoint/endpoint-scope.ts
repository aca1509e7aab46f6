/**
 * The scope of one endpoint: what its clients may see and use. Clients use the names of the endpoint; the
 * engine uses uuids of servers and the servers' own names of tools. Names are translated here and nowhere
 * else.
 */
import type { CatalogView } from "../../catalog/catalog-view.ts";
import type { Call, Lease, Origin } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { isOtherMethod } from "../../kernel/methods.ts";
import { perObject } from "../../kernel/per-object.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { ServerStatus } from "../../kernel/server-status.ts";
import { readToolId, type ToolId } from "../../kernel/tool-id.ts";
import { builtinRules } from "../../surface/layered-requests.ts";
import { layeredScope } from "../../surface/layered-scope.ts";
import type { Scope, ServerRules, ToolTarget } from "../../surface/scope.ts";
import type { CompiledEndpoint } from "../compile.ts";
import type { StoredObject } from "../objects.ts";
import type { NamespacePart } from "../part.ts";
import type { EndpointLayers, LayerParts } from "./endpoint-layers.ts";
import { EndpointView, type EndpointViewParts } from "./endpoint-view.ts";
import { methodFacts, serverFacts, toolFacts } from "./facts.ts";
import { ownCall } from "./own-call.ts";
import { whatHides } from "./what-hides.ts";

const NO_RIGHT = "You may no longer use this endpoint. Nothing was done.";

type LoadMissing = Scope["loader"]["loadMissing"];

export interface EndpointScopeParts extends EndpointViewParts, LayerParts {
  /** Whether the principal may use the endpoint at this moment. */
  readonly mayUse: (endpoint: CompiledEndpoint, principal: Principal) => boolean;
}

export function endpointScope(base: Scope, layers: EndpointLayers, parts: EndpointScopeParts): Scope {
  const scope = new EndpointScope(base, parts, layers);
  const { code } = parts.current().object.spec;
  const { provision: _, code: executor, ...rest } = base;
  const named: Scope = {
    ...rest,
    ...(code ? { code: executor } : {}),
    maxResultBytes: () => parts.current().object.spec.maxResultBytes ?? base.maxResultBytes(),
    pinned: () => pinnedOf(parts.current().object),
    view: (asker) => scope.view(asker),
    loader: {
      loadMissing: (servers, origin, ...how) =>
        scope.loadMissing(servers, origin, (uuids) => base.loader.loadMissing(uuids, origin, ...how)),
      loadMissingOwn: (servers, origin, deadlineMs) =>
        scope.loadMissing(servers, origin, (uuids) => base.loader.loadMissingOwn(uuids, origin, deadlineMs)),
    },
    call: (call) => scope.call(call),
    target: (...tool) => scope.target(...tool),
    usageOf: (...tool) => scope.usageOf(...tool),
    connect: (...wanted) => scope.connect(...wanted),
    connected: (server, origin) => scope.connected(server, origin),
    servers: (asker) => scope.servers(asker),
    server: (name, asker) => scope.servers(asker).find((status) => status.name === name),
    login: (server, origin) => scope.login(server, origin),
    specs: () => scope.specs(),
    has: (name, asker) => scope.has(name, asker),
    permits: (...tool) => scope.permits(...tool),
    pins: {
      ...base.pins,
      unapproved: (...list) => scope.unapproved(...list),
      unapprovedTexts: (...list) => scope.unapprovedTexts(...list),
    },
    ...builtinRules(layers),
    refused: ({ server, ...call }) => layers.countRefused(call, scope.uuidOf(server)),
    hiding: (server, tool, origin) =>
      whatHides({ ...parts, layers, view: scope.view(origin) }, server, tool, origin),
    maskedArguments: (server, args) => layers.maskedArguments(args, scope.uuidOf(server)),
  };
  return layeredScope(named, layers);
}

class EndpointScope {
  readonly #base: Scope;
  readonly #parts: EndpointScopeParts;
  readonly #layers: EndpointLayers;
  readonly #views = new WeakMap<CatalogView, EndpointView>();
  /** Enabled servers by name. Computed again when the endpoint or the servers change. */
  #byName: ReadonlyMap<string, NamespacePart> = new Map();
  #specs: ReadonlyMap<string, ServerRules> = new Map();
  #madeOf: { readonly endpoint: CompiledEndpoint; readonly specs: unknown } | undefined;

  constructor(base: Scope, parts: EndpointScopeParts, layers: EndpointLayers) {
    this.#base = base;
    this.#parts = parts;
    this.#layers = layers;
  }

  view(asker: Asker): EndpointView {
    const base = this.#base.view(asker);
    let view = this.#views.get(base);
    if (!view) {
      view = new EndpointView(base, this.#parts);
      this.#views.set(base, view);
    }
    return view;
  }

  specs(): ReadonlyMap<string, ServerRules> {
    const endpoint = this.#parts.current();
    const specs = this.#base.specs();
    if (this.#madeOf?.endpoint !== endpoint || this.#madeOf.specs !== specs) {
      this.#madeOf = { endpoint, specs };
      const usable = endpoint.parts.filter(({ part }) => !part.off && specs.has(part.server));
      this.#byName = new Map(usable.map(({ part }) => [part.name, part]));
      this.#specs = new Map(
        usable.map(({ part }) => [part.name, rulesOf(part, specs.get(part.server) as ServerRules)]),
      );
    }
    return this.#specs;
  }

  has(name: string, asker: Asker | undefined): boolean {
    return this.specs().has(name) && !this.#isEmpty(name, asker);
  }

  /** A server of which the switches of a namespace leave nothing does not exist for clients. */
  #isEmpty(name: string, asker: Asker | undefined): boolean {
    return asker !== undefined && (this.view(asker).snapshot.servers.get(name)?.isEmpty ?? false);
  }

  uuidOf(name: string): string | undefined {
    return this.#part(name)?.server;
  }

  login(server: string, origin: Origin): ReturnType<NonNullable<Scope["login"]>> {
    const part = this.#part(server);
    return part && this.#base.login?.(part.server, origin);
  }

  servers(asker: Asker | undefined): readonly ServerStatus[] {
    const { reachable } = this.#parts;
    this.specs();
    const known = new Map(this.#base.servers(asker).map((status) => [status.name, status]));
    return [...this.#byName].flatMap(([name, { server }]) => {
      const status = known.get(server);
      const reason = reachable.fault(server);
      if (!status || this.#isEmpty(name, asker)) return [];
      return [{ ...status, name, ...(reason === undefined ? {} : { state: "failed" as const, reason }) }];
    });
  }

  connected(server: string, origin: Origin): boolean {
    const part = this.#part(server);
    return part !== undefined && this.#base.connected(part.server, origin);
  }

  async connect(server: string, origin: Origin): Promise<Lease> {
    for (;;) {
      const uuid = this.#required(server).server;
      try {
        return await this.#base.connect(uuid, origin);
      } catch (error) {
        // One revision, a rollback for example, may replace a server by another one of the same name.
        const replaced = MetaMcpError.is(error) && error.code === "server_not_found";
        if (!replaced || this.#part(server)?.server === uuid) throw error;
      }
    }
  }

  permits(server: string, tool: string, asker: Asker): boolean {
    const target = this.view(asker).snapshot.resolve(server, tool);
    return target !== undefined && this.#base.permits(target.server, target.name, asker);
  }

  unapproved(server: string, asker: Asker): ReturnType<Scope["pins"]["unapproved"]> {
    const part = this.#part(server);
    if (!part) return [];
    const view = this.view(asker).snapshot;
    return this.#base.pins.unapproved(part.server, asker).flatMap((change) => {
      const name = part.rules.get(change.tool)?.name ?? change.tool;
      return view.resolve(server, name) ? [{ ...change, tool: name }] : [];
    });
  }

  unapprovedTexts(server: string, asker: Asker): ReturnType<Scope["pins"]["unapprovedTexts"]> {
    const part = this.#part(server);
    return part ? this.#base.pins.unapprovedTexts(part.server, asker) : [];
  }

  async usageOf(server: string, tool: string): Promise<readonly Raw[]> {
    const part = this.#part(server);
    return part ? await this.#base.usageOf(part.server, part.renamed.get(tool) ?? tool) : [];
  }

  target(server: string, tool: string, asker: Asker): ToolTarget {
    const found = this.view(asker).snapshot.resolve(server, tool);
    return found
      ? { server: found.server, tool: found.name }
      : { server: this.#part(server)?.server ?? server, tool };
  }

  /**
   * Checks the right to the endpoint again: since the request was authenticated, the call may have waited for
   * a person.
   */
  call(call: Call): Promise<Raw> {
    const { mayUse, current } = this.#parts;
    if (call.method !== "resources/unsubscribe" && !mayUse(current(), call.origin.principal))
      return Promise.reject(new MetaMcpError("forbidden", NO_RIGHT));
    const { server } = this.#required(call.server);
    const compiled = this.#parts.compiled();
    if (call.method !== "tools/call")
      return this.#layers.handle(
        { ...call, server },
        isOtherMethod(call.method)
          ? methodFacts(server, call.method, compiled)
          : serverFacts(server, compiled),
      );
    const { call: own, target } = ownCall(call, this.view(call.origin).snapshot);
    return this.#layers.handle(own, toolFacts(target, compiled));
  }

  /** Also connects unreachable servers again. */
  async loadMissing(
    servers: readonly string[],
    origin: Origin,
    load: (uuids: readonly string[]) => ReturnType<LoadMissing>,
  ): ReturnType<LoadMissing> {
    const parts = servers.flatMap((name) => this.#part(name) ?? []);
    const { reachable } = this.#parts;
    const down = new Set(parts.filter((part) => reachable.fault(part.server) !== undefined));
    const known = down.size === 0 ? parts : parts.filter((part) => !down.has(part));
    const [unknown, failed] = await Promise.all([
      load(known.map((part) => part.server)),
      Promise.all([...down].map((part) => this.#retry(part, origin))),
    ]);
    const nameOf = (uuid: string): string => parts.find((part) => part.server === uuid)?.name ?? uuid;
    const named = unknown.map((one) => ({ ...one, server: nameOf(one.server) }));
    return [...named, ...failed.flat()].filter((one) => !this.#isEmpty(one.server, origin));
  }

  async #retry({ server, name }: NamespacePart, origin: Origin): ReturnType<LoadMissing> {
    try {
      (await this.#base.connect(server, origin)).release();
      return [];
    } catch (error) {
      return [{ server: name, reason: (error as Error).message }];
    }
  }

  #part(name: string): NamespacePart | undefined {
    this.specs();
    return this.#byName.get(name);
  }

  #required(name: string): NamespacePart {
    const part = this.#part(name);
    if (part) return part;
    throw new MetaMcpError("server_not_found", `No server "${name}" is configured here.`, { server: name });
  }
}

/** The rules with examples under the names that tools have at the endpoint. */
function rulesOf({ prefix, rules }: NamespacePart, { examples, tools }: ServerRules): ServerRules {
  const named = Object.entries(examples).map(
    ([tool, list]) => [rules.get(tool)?.name ?? tool, list] as const,
  );
  return { prefix, tools, examples: Object.fromEntries(named) };
}

const NO_TOOLS: readonly ToolId[] = [];

/** The pinned tools of the endpoint. The same array until the endpoint changes. */
const pinnedOf = perObject(({ spec: { pinned } }: StoredObject<"endpoint">): readonly ToolId[] =>
  pinned?.length ? pinned.flatMap((id) => readToolId(id) ?? []) : NO_TOOLS,
);
