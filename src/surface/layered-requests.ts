/**
 * The layers around requests of clients. They see each request, and hide builtin tools from clients that may
 * not use them.
 */
import { joinArray } from "../catalog/json-array.ts";
import { BUILTIN_SERVER } from "../kernel/builtin-server.ts";
import { newTrail, type Trail } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { ItemMethod } from "../kernel/events.ts";
import { isOtherNotification } from "../kernel/methods.ts";
import { LARGE_BYTES, ownTurn } from "../kernel/own-turn.ts";
import type { Principal } from "../kernel/principal.ts";
import { fromRaw, type Raw, scalarOf, toRaw } from "../kernel/raw.ts";
import type { LayerRequest } from "../middleware/layer.ts";
import { type Answering, ownFacts, type RequestLayers } from "../middleware/request-layers.ts";
import { INVALID_PARAMS, RpcError } from "../rpc/rpc-error.ts";
import { elements, joinObject, member, members, withMember } from "../rpc/slice.ts";
import { asResult } from "./failure.ts";
import { subjectOf } from "./forward.ts";
import { META_TOOLS } from "./meta/tools.ts";
import { METATOOL_NAMES } from "./metatools/tools.ts";
import { type Recording, recorded, recordRefusal } from "./recorded.ts";
import { isStoredUri } from "./result/store.ts";
import type { Scope, ScopeFacts } from "./scope.ts";
import type { ClientRequest, Surface } from "./surface.ts";
import type { AroundRequest } from "./wrapped-surface.ts";

export const OWN_TOOL_NAMES: readonly string[] = [...META_TOOLS, ...METATOOL_NAMES];

/** The layers around the requests of a surface. */
export interface SurfaceLayers {
  /** `any`: there are layers around requests. `hideBuiltin`: own tools may be hidden from some clients. */
  readonly requests: Pick<RequestLayers, "any" | "hideBuiltin" | "hidingBuiltin">;
  hidesOwn(tool: string, principal: Principal): boolean;
  request(request: LayerRequest, answer: Answering): Promise<Raw>;
  /** Nothing restricts the principal: no layer, and no tiers. */
  isOpen(principal: Principal): boolean;
}

/**
 * No layer can look at a message that belongs to no call, so those that MetaMCP does not know reach a client
 * only where there is no layer.
 */
export function hearing(layers: Pick<SurfaceLayers, "isOpen">): Surface["hears"] {
  return (method, principal) => !isOtherNotification(method) || layers.isOpen(principal);
}

/** By method: the member with what the client sends. */
const ITEM_ARGUMENTS: ReadonlyMap<string, string> = new Map<ItemMethod, string>([
  ["prompts/get", "arguments"],
  ["resources/read", "arguments"],
  ["resources/subscribe", "arguments"],
  ["completion/complete", "argument"],
  ["skills/get", "arguments"],
  ["resources/directory/read", "arguments"],
]);

function isItemMethod(method: string): method is ItemMethod {
  return ITEM_ARGUMENTS.has(method);
}

/** The layers around the requests of one surface. */
export class LayeredRequests {
  readonly #surface: Pick<Surface, "tool">;
  readonly #layers: SurfaceLayers;
  readonly #scope: Recording & Pick<ScopeFacts, "log">;

  constructor(
    surface: Pick<Surface, "tool">,
    layers: SurfaceLayers,
    scope: Recording & Pick<ScopeFacts, "log">,
  ) {
    this.#surface = surface;
    this.#layers = layers;
    this.#scope = scope;
  }

  readonly around: AroundRequest = (request, answer) => {
    const { method, origin, params } = request;
    if (isItemMethod(method)) {
      const tool = subjectOf(method, params);
      const server = isStoredUri(tool) ? BUILTIN_SERVER : "";
      const [args] = params ? members(params, [ITEM_ARGUMENTS.get(method) ?? ""]) : [];
      return recorded(this.#scope, { server, tool, args, method }, request, (inner) =>
        // The walks so far were enough for one turn.
        params && params.length >= LARGE_BYTES
          ? ownTurn().then(() => this.#answer(inner, answer))
          : this.#answer(inner, answer),
      );
    }
    const { any, hideBuiltin } = this.#layers.requests;
    const name = method === "tools/call" && (any || hideBuiltin) ? this.#builtinName(request) : undefined;
    if (name !== undefined && this.#layers.hidesOwn(name, origin.principal)) {
      const error = RpcError.of(INVALID_PARAMS, `Unknown tool: ${name}`);
      const { use: by, at: place } = this.#layers.requests.hidingBuiltin(name, origin.principal) ?? {};
      const why = { code: "tool_not_found", error, by, place } as const;
      recordRefusal(this.#scope, { server: BUILTIN_SERVER, tool: name }, request, why);
      throw error;
    }
    const answered = this.#answer(request, answer, name);
    return method === "tools/list"
      ? answered.then((list) => this.#withoutHidden(list, origin.principal))
      : answered;
  };

  #answer(request: ClientRequest, answer: Surface["handle"], name?: string): Promise<Raw> {
    return this.#layers.requests.any ? this.#layered(request, answer, name) : answer(request);
  }

  async #layered(request: ClientRequest, answer: Surface["handle"], name: string | undefined): Promise<Raw> {
    const own = name === undefined ? undefined : ownFacts(name);
    const trail = request.trail ?? newTrail();
    let reached = false;
    try {
      return await this.#layers.request({ ...request, own, trail }, () => {
        reached = true;
        return answer(request);
      });
    } catch (error) {
      if (request.method !== "tools/call") throw error;
      if (!reached) this.#recordRefusal(request, name, error, trail);
      // A refused tool call is a failed result. The protocol has no such results for other methods.
      return asResult(this.#scope.log, error);
    }
  }

  /** Records a call that a layer refused before it reached the surface. */
  #recordRefusal(request: ClientRequest, own: string | undefined, error: unknown, trail: Trail): void {
    const [raw, args] = request.params ? members(request.params, ["name", "arguments"]) : [];
    const wanted = {
      server: own === undefined ? "" : BUILTIN_SERVER,
      tool: String(scalarOf(raw)),
      args,
    };
    const code = MetaMcpError.is(error) ? error.code : "internal";
    const { by, place } = trail;
    recordRefusal(this.#scope, wanted, request, { code, error, by, place });
  }

  /** Removes hidden own tools from the list. Returns the same bytes if none is hidden. */
  #withoutHidden(list: Raw, principal: Principal): Raw {
    const hidden = new Set<unknown>(OWN_TOOL_NAMES.filter((name) => this.#layers.hidesOwn(name, principal)));
    const [tools] = hidden.size > 0 ? members(list, ["tools"]) : [];
    if (!tools) return list;
    const left = elements(tools).filter((tool) => {
      const name = member(tool, "name");
      return !hidden.has(name && fromRaw(name));
    });
    return withMember(list, "tools", joinArray(left));
  }

  /** Returns the name if an own tool is called. A tool of a child may have the same name. */
  #builtinName({ params, origin }: ClientRequest): string | undefined {
    const raw = params && member(params, "name");
    const name = scalarOf(raw);
    if (typeof name !== "string" || !OWN_TOOL_NAMES.includes(name)) return undefined;
    return this.#surface.tool?.(name, origin) ? undefined : name;
  }
}

/**
 * Applies the request layers to a call that comes through no surface, as over plain HTTP. They see it as a
 * call on the aggregate surface.
 */
export function callThroughLayers(
  layers: SurfaceLayers,
  { name, args }: { readonly name: string; readonly args: Raw },
  request: ClientRequest,
  run: Answering,
): Promise<Raw> {
  if (!layers.requests.any) return run();
  const params = joinObject([
    ["name", toRaw(name)],
    ["arguments", args],
  ]);
  return layers.request({ ...request, params }, run);
}

/** The effect of these layers on own tools, for a scope. */
export function builtinRules(layers: SurfaceLayers): Required<Pick<Scope, "hidesOwn" | "aroundBuiltin">> {
  return {
    hidesOwn: (tool, { principal }) => layers.hidesOwn(tool, principal),
    aroundBuiltin: (tool, request, run) =>
      layers.requests.any ? layers.request({ ...request, own: ownFacts(tool) }, run) : run(),
  };
}
