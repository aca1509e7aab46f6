/** A surface behind the layers of its requests: they see what clients ask, and take tools of ours away from those who may not have them. */
import { joinArray } from "../catalog/json-array.ts";
import { newTrail, type Trail } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { ItemMethod } from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";
import type { Principal } from "../kernel/principal.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import type { LayerRequest } from "../middleware/layer.ts";
import { type Answering, ownFacts } from "../middleware/request-layers.ts";
import { INVALID_PARAMS, RpcError } from "../rpc/rpc-error.ts";
import { elements, joinObject, member, members, withMember } from "../rpc/slice.ts";
import { asResult } from "./failure.ts";
import { nameIn } from "./forward.ts";
import { META_TOOLS } from "./meta/meta.ts";
import { METATOOL_NAMES } from "./metatools/metatools.ts";
import { OWN_SERVER } from "./own/tools.ts";
import { type Recording, recorded, recordRefusal } from "./recorded.ts";
import { isStoredUri } from "./result/store.ts";
import type { Scope } from "./scope.ts";
import type { ClientRequest, Surface } from "./surface.ts";

export const OWN_TOOL_NAMES: readonly string[] = [...META_TOOLS, ...METATOOL_NAMES];

export interface RequestSide {
  /** `any`: something stands around requests. `hideOwn`: a tool of ours may not exist for somebody. */
  readonly requests: { readonly any: boolean; readonly hideOwn: boolean };
  hidesOwn(tool: string, principal: Principal): boolean;
  request(request: LayerRequest, answer: Answering): Promise<Raw>;
}

type Given<K extends keyof Surface> =
  NonNullable<Surface[K]> extends (...args: infer A) => unknown ? A : never;

function isItemMethod(method: string): method is ItemMethod {
  return method === "prompts/get" || method === "resources/read";
}

export class LayeredSurface implements Surface {
  readonly #surface: Surface;
  readonly #side: RequestSide;
  readonly #scope: Recording & { readonly log: Log };

  constructor(surface: Surface, side: RequestSide, scope: Recording & { readonly log: Log }) {
    this.#surface = surface;
    this.#side = side;
    this.#scope = scope;
  }

  get capabilities(): Surface["capabilities"] {
    return this.#surface.capabilities;
  }

  async prepare(...args: Given<"prepare">): Promise<void> {
    await this.#surface.prepare?.(...args);
  }

  instructions(...args: Given<"instructions">): string {
    return this.#surface.instructions(...args);
  }

  tool(...args: Given<"tool">) {
    return this.#surface.tool?.(...args);
  }

  lists(...args: Given<"lists">) {
    return this.#surface.lists?.(...args) ?? {};
  }

  learn(...args: Given<"learn">): void {
    this.#surface.learn?.(...args);
  }

  notified(...args: Given<"notified">): void {
    this.#surface.notified?.(...args);
  }

  handle(request: ClientRequest): Promise<Raw> {
    const { method, origin, params } = request;
    if (isItemMethod(method)) {
      const tool = nameIn(params);
      const server = isStoredUri(tool) ? OWN_SERVER : "";
      const [args] = params ? members(params, ["arguments"]) : [];
      return recorded(this.#scope, { server, tool, args, method }, request, (inner) => this.#answer(inner));
    }
    const { any, hideOwn } = this.#side.requests;
    const name = method === "tools/call" && (any || hideOwn) ? this.#ownName(request) : undefined;
    if (name !== undefined && this.#side.hidesOwn(name, origin.principal)) {
      recordRefusal(this.#scope, { server: OWN_SERVER, tool: name }, request, { code: "tool_not_found" });
      throw RpcError.of(INVALID_PARAMS, `Unknown tool: ${name}`);
    }
    const answered = this.#answer(request, name);
    return method === "tools/list"
      ? answered.then((list) => this.#without(list, origin.principal))
      : answered;
  }

  #answer(request: ClientRequest, name?: string): Promise<Raw> {
    return this.#side.requests.any ? this.#layered(request, name) : this.#surface.handle(request);
  }

  async #layered(request: ClientRequest, name: string | undefined): Promise<Raw> {
    const own = name === undefined ? undefined : ownFacts(name);
    const trail = request.trail ?? newTrail();
    let reached = false;
    try {
      return await this.#side.request({ ...request, own, trail }, () => {
        reached = true;
        return this.#surface.handle(request);
      });
    } catch (error) {
      if (request.method !== "tools/call") throw error;
      if (!reached) this.#refused(request, name, error, trail);
      // A refused tool is a failed tool; of anything else the protocol knows errors alone.
      return asResult(this.#scope.log, error);
    }
  }

  /** What a layer keeps from the surface is a call all the same. */
  #refused(request: ClientRequest, own: string | undefined, error: unknown, { by }: Trail): void {
    const [raw, args] = request.params ? members(request.params, ["name", "arguments"]) : [];
    const wanted = { server: own === undefined ? "" : OWN_SERVER, tool: String(raw && fromRaw(raw)), args };
    const code = MetaMcpError.is(error) ? error.code : "internal";
    recordRefusal(this.#scope, wanted, request, { code, by });
  }

  /** The list without tools of ours that do not exist for them; the same bytes where that is none. */
  #without(list: Raw, principal: Principal): Raw {
    const hidden = new Set<unknown>(OWN_TOOL_NAMES.filter((name) => this.#side.hidesOwn(name, principal)));
    const [tools] = hidden.size > 0 ? members(list, ["tools"]) : [];
    if (!tools) return list;
    const left = elements(tools).filter((tool) => {
      const name = member(tool, "name");
      return !hidden.has(name && fromRaw(name));
    });
    return withMember(list, "tools", joinArray(left));
  }

  /** A tool of a child may bear any name. */
  #ownName({ params, origin }: ClientRequest): string | undefined {
    const raw = params && member(params, "name");
    const name = raw && fromRaw(raw);
    if (typeof name !== "string" || !OWN_TOOL_NAMES.includes(name)) return undefined;
    return this.#surface.tool?.(name, origin) ? undefined : name;
  }
}

/** Around a call that comes by no surface, as over plain HTTP: it is asked as one that comes by a list of all tools. */
export function askedCall(
  side: RequestSide,
  { name, args }: { readonly name: string; readonly args: Raw },
  request: ClientRequest,
  run: Answering,
): Promise<Raw> {
  if (!side.requests.any) return run();
  const params = joinObject([
    ["name", toRaw(name)],
    ["arguments", args],
  ]);
  return side.request({ ...request, params }, run);
}

/** What these layers make of tools of ours. */
export function ownRules(side: RequestSide): NonNullable<Scope["own"]> {
  return {
    hides: (tool, { principal }) => side.hidesOwn(tool, principal),
    around: (tool, request, run) =>
      side.requests.any ? side.request({ ...request, own: ownFacts(tool) }, run) : run(),
  };
}
