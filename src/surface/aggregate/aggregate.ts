/** The aggregate surface: every server's tools, prompts and resources in one list each. Answers from memory, and passes on what it does not know where it is clear to whom. */
import type { Tool } from "../../catalog/tool.ts";
import { callerOf, type Origin, type TaskSupport } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { EMPTY_OBJECT, type Raw } from "../../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { readParams } from "../call-params.ts";
import { callTool } from "../call-tool.ts";
import { asResult } from "../failure.ts";
import { passOn, passThrough } from "../pass-through.ts";
import { recorded, recordRefusal } from "../recorded.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest, ListName, ListStates, Surface } from "../surface.ts";
import { TASK_CAPABILITY } from "../task/legacy-form.ts";
import { TaskRequests } from "../task/task-requests.ts";
import { awaitNamed } from "./await-named.ts";
import { mergedInstructions } from "./instructions.ts";
import { ItemRequests } from "./item-requests.ts";
import { ListReader } from "./list-reader.ts";
import { createShelves, type Shelves } from "./merged-list.ts";
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
export class AggregateSurface implements Surface {
  readonly capabilities: Surface["capabilities"];
  readonly #scope: Scope;
  /** The lists that a client sees. */
  readonly #shelvesOf: (asker: Asker) => Shelves;
  readonly #reader: ListReader;
  readonly #items: ItemRequests;
  readonly #tasks: TaskRequests;

  constructor(scope: Scope, { notify }: AggregateOptions) {
    const changes = notify ? { listChanged: true } : {};
    this.capabilities = {
      tools: changes,
      prompts: changes,
      resources: { ...changes, subscribe: true },
      completions: {},
      logging: {},
      tasks: TASK_CAPABILITY,
    };
    this.#scope = scope;
    const shelves = createShelves(scope);
    this.#shelvesOf = (asker) => shelves(scope.view(asker));
    this.#reader = new ListReader(scope, this.#shelvesOf);
    this.#items = new ItemRequests(scope, this.#shelvesOf, this.#reader);
    this.#tasks = new TaskRequests({
      tasks: scope.tasks,
      clock: scope.clock,
      supportOf: (name, asker) => this.#taskSupport(name, asker),
    });
  }

  /** What servers said of themselves in an earlier run; starts none. */
  prepare(origin: Origin): Promise<void> {
    return this.#scope.view(origin).loadCached();
  }

  instructions(asker: Asker): string {
    return mergedInstructions(this.#scope, this.#scope.view(asker));
  }

  tool(name: string, asker: Asker): Raw | undefined {
    return this.#shelvesOf(asker).tools.list.get(name)?.definition;
  }

  lists(asker: Asker): Required<ListStates> {
    const { tools, prompts, resources, templates } = this.#shelvesOf(asker);
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

  notified(...[method, params, origin]: Parameters<NonNullable<Surface["notified"]>>): void {
    if (this.#scope.specs().size === 1) this.#scope.notify(origin, method, params);
    else passOn(this.#scope, method, params, origin);
  }

  /** Whether showing all tools takes at most so many bytes; no if servers are still unknown. */
  async isSmall(origin: Origin, bytes: number): Promise<boolean> {
    const unknown = await this.#reader.learnOwnTools(origin);
    return unknown.length === 0 && this.#shelvesOf(origin).tools.list.bytes <= bytes;
  }

  handle(request: ClientRequest): Promise<Raw> {
    return this.#tasks.answer(request, (inner) => this.#answer(inner)) ?? this.#answer(request);
  }

  #answer(request: ClientRequest): Promise<Raw> {
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

  /** Tools of the stateless era do not say: their server decides when they are called. */
  #taskSupport(name: string, asker: Asker): TaskSupport | undefined {
    const tool = this.#shelvesOf(asker).tools.list.get(name);
    if (!tool) return undefined;
    const { era } = this.#scope.view(asker).snapshot.listings.get(tool.server)?.about ?? {};
    return tool.taskSupport ?? (era === "2026" ? "optional" : "forbidden");
  }

  #callTool(request: ClientRequest): Promise<Raw> {
    const { params } = request;
    const { name, args = EMPTY_OBJECT, meta, others } = readParams(params);
    if (typeof name !== "string" || !params) {
      recordRefusal(this.#scope, { server: "", tool: "" }, request, { code: "validation_input" });
      throw RpcError.of(INVALID_PARAMS, "tools/call needs a name");
    }
    const { origin } = request;
    const { tools } = this.#shelvesOf(origin);
    const send = (tool: Tool | undefined, asked: ClientRequest): Promise<Raw> => {
      if (!tool) throw this.#unknown(name, asked, tools);
      const { server, name: own } = tool;
      const call = { server, tool: own, args, meta, written: others ? params : undefined };
      return callTool(this.#scope, call, asked).then((result) => {
        this.#scope.results.links.noteAll(callerOf(request.origin), server, result);
        return result;
      });
    };
    // The list of now: the one of before may still name a tool that was denied while the call waited.
    const failed = (error: unknown): Raw => this.#failed(name, error, this.#shelvesOf(origin).tools);
    const known = tools.list.get(name);
    if (!known)
      return recorded(this.#scope, { server: "", tool: name, args }, request, (inner) =>
        awaitNamed(this.#scope, { kind: "tools", name, shelf: tools }, inner, (tool) => send(tool, inner)),
      ).catch(failed);
    try {
      return send(known, request).catch(failed);
    } catch (error) {
      return Promise.resolve(failed(error));
    }
  }

  #unknown(name: string, { origin, trail }: ClientRequest, { list }: Shelves["tools"]): Error {
    const quarantined = quarantinedName(this.#scope, name, origin);
    if (quarantined) return quarantined;
    if (trail) trail.code = "tool_not_found";
    return unknownName("tool", name, list);
  }

  /** A tool that has gone since it was listed is unknown like any other. */
  #failed(name: string, error: unknown, { list }: Shelves["tools"]): Raw {
    const gone = MetaMcpError.is(error) && error.code === "tool_not_found";
    const told = gone ? unknownName("tool", name, list) : error;
    return asResult(this.#scope.log, told, "meta");
  }
}
