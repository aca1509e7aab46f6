/** The aggregate surface: every server's tools, prompts and resources in one list each. Answers from memory, and passes on what it does not know where it is clear to whom. */
import type { Tool } from "../../catalog/tool.ts";
import type { Origin } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { members, withMember } from "../../rpc/slice.ts";
import { callTool } from "../call-tool.ts";
import type { ClientRequest, Face, ListName, ListStates } from "../face.ts";
import { asResult } from "../failure.ts";
import { passOn, passThrough } from "../pass-through.ts";
import type { Scope } from "../scope.ts";
import { awaitNamed } from "./await-named.ts";
import { mergedInstructions } from "./instructions.ts";
import { ItemRequests } from "./item-requests.ts";
import { ListReader } from "./list-reader.ts";
import { createShelves, type Shelves } from "./shelf.ts";
import { quarantinedName, unknownName } from "./unknown-name.ts";

const LISTS: ReadonlyMap<string, ListName> = new Map([
  ["tools/list", "tools"],
  ["prompts/list", "prompts"],
  ["resources/list", "resources"],
  ["resources/templates/list", "templates"],
]);

export interface AggregateOptions {
  /** Clients are told when a list changes. */
  readonly notify: boolean;
}

/** One for all sessions: nothing in it belongs to one client. */
export class AggregateFace implements Face {
  readonly capabilities: Face["capabilities"];
  readonly #scope: Scope;
  readonly #shelves: Shelves;
  readonly #reader: ListReader;
  readonly #items: ItemRequests;

  constructor(scope: Scope, { notify }: AggregateOptions) {
    const changes = notify ? { listChanged: true } : {};
    this.capabilities = {
      tools: changes,
      prompts: changes,
      resources: { ...changes, subscribe: true },
      completions: {},
      logging: {},
    };
    this.#scope = scope;
    this.#shelves = createShelves(scope);
    this.#reader = new ListReader(scope, this.#shelves);
    this.#items = new ItemRequests(scope, this.#shelves, this.#reader);
  }

  /** What servers said of themselves in an earlier run; starts none. */
  prepare(): Promise<void> {
    return this.#scope.catalog.loadCached();
  }

  instructions(): string {
    return mergedInstructions(this.#scope);
  }

  tool(name: string): Raw | undefined {
    return this.#shelves.tools.list.get(name)?.definition;
  }

  lists(): Required<ListStates> {
    const { tools, prompts, resources, templates } = this.#shelves;
    return {
      tools: tools.state,
      prompts: prompts.state,
      resources: resources.state,
      templates: templates.state,
    };
  }

  learn(origin: Origin): void {
    for (const list of LISTS.values()) void this.#reader.learn(list, origin);
  }

  notified(...[method, params, origin]: Parameters<NonNullable<Face["notified"]>>): void {
    if (this.#scope.specs().size === 1) this.#scope.notify(origin, method, params);
    else passOn(this.#scope, method, params, origin);
  }

  /** Whether showing all tools takes at most so many bytes; no if servers are still unknown. */
  async isSmall(request: ClientRequest, bytes: number): Promise<boolean> {
    const unknown = await this.#reader.learn("tools", request.origin);
    return unknown.length === 0 && this.#shelves.tools.list.bytes <= bytes;
  }

  handle(request: ClientRequest): Promise<Raw> {
    const { method } = request;
    if (method === "tools/call") return this.#callTool(request);
    const list = LISTS.get(method);
    if (list) return this.#reader.read(list, request);
    switch (method) {
      case "prompts/get":
        return this.#items.getPrompt(request);
      case "resources/read":
      case "resources/subscribe":
      case "resources/unsubscribe":
        return this.#items.useResource(request);
      case "completion/complete":
        return this.#items.complete(request);
      case "logging/setLevel":
        return passThrough(this.#scope, request);
    }
    const [only, ...others] = this.#scope.specs().keys();
    if (only === undefined || others.length > 0) return passThrough(this.#scope, request);
    return this.#items.forward(request, only, request.params ?? EMPTY_OBJECT, { repeat: "unknown" });
  }

  #callTool(request: ClientRequest): Promise<Raw> {
    const { params } = request;
    const [raw, args = EMPTY_OBJECT] = params ? members(params, ["name", "arguments"]) : [];
    const name = raw && fromRaw(raw);
    if (typeof name !== "string" || !params) throw RpcError.of(INVALID_PARAMS, "tools/call needs a name");
    const { tools } = this.#shelves;
    const send = (tool: Tool | undefined): Promise<Raw> => {
      if (!tool) throw quarantinedName(this.#scope, name) ?? unknownName("tool", name, tools.list);
      const { server, name: own } = tool;
      return callTool(
        this.#scope,
        { server, tool: own, args, params: withMember(params, "name", toRaw(own)) },
        request,
      );
    };
    const failed = (error: unknown): Raw => this.#failed(name, error);
    const known = tools.list.get(name);
    if (!known)
      return awaitNamed(this.#scope, { kind: "tools", name, shelf: tools }, request, send).catch(failed);
    try {
      return send(known).catch(failed);
    } catch (error) {
      return Promise.resolve(failed(error));
    }
  }

  /** A tool that has gone since it was listed is unknown like any other. */
  #failed(name: string, error: unknown): Raw {
    const gone = MetaMcpError.is(error) && error.code === "tool_not_found";
    return asResult(this.#scope.log, gone ? unknownName("tool", name, this.#shelves.tools.list) : error);
  }
}
