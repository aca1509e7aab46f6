/**
 * The aggregate surface: one list each of all servers' tools, prompts, resources and skills. Lists are
 * answered from memory. With a single server, unknown methods are forwarded to it.
 */

import type { Tool } from "../../catalog/tool.ts";
import { knowsApps, pageOf } from "../../catalog/tool-app.ts";
import { callerOf, type Origin, type TaskSupport } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { EMPTY_OBJECT, type Raw } from "../../kernel/raw.ts";
import { SKILLS_EXTENSION } from "../../kernel/skill-rules.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { appCall } from "../app-call.ts";
import { concernsApps, forModels } from "../app-tools.ts";
import { readParams } from "../call-params.ts";
import { callTool } from "../call-tool.ts";
import { allExtensions } from "../extensions.ts";
import { asResult } from "../failure.ts";
import { type SurfaceKind, shared } from "../kind.ts";
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
import { createMergedLists, type MergedLists } from "./merged-list.ts";
import { withOwnPage } from "./pages.ts";
import { SkillRequests } from "./skill-requests.ts";
import { quarantinedName, unknownName } from "./unknown-name.ts";

const LISTS: ReadonlyMap<string, ListName> = new Map([
  ["tools/list", "tools"],
  ["prompts/list", "prompts"],
  ["resources/list", "resources"],
  ["resources/templates/list", "templates"],
  ["skills/list", "skills"],
]);

export interface AggregateOptions {
  /** Clients get list_changed notifications. */
  readonly notify: boolean;
  /** Whether it judges which app may call a listed tool. */
  readonly judgesApps?: boolean;
}

export const aggregate: SurfaceKind = {
  name: "aggregate",
  open: (scope, options) => shared(new AggregateSurface(scope, options), options),
};

/** Shared by all sessions. Has no state of a single client. */
export class AggregateSurface implements Surface {
  readonly capabilities: Surface["capabilities"];
  readonly #scope: Scope;
  /** With the tools that are hidden from models. */
  readonly #all: Scope;
  /** Returns the lists that a client sees. */
  readonly #listsOf: (asker: Asker) => MergedLists;
  readonly #reader: ListReader;
  readonly #items: ItemRequests;
  readonly #skills: SkillRequests;
  readonly #tasks: TaskRequests;
  readonly #judgesApps: boolean;

  constructor(all: Scope, { notify, judgesApps = true }: AggregateOptions) {
    this.#judgesApps = judgesApps;
    const scope = forModels(all, ({ capabilities }) => knowsApps(capabilities));
    const changes = notify ? { listChanged: true } : {};
    this.capabilities = {
      tools: changes,
      prompts: changes,
      resources: { ...changes, subscribe: true },
      completions: {},
      logging: {},
      tasks: TASK_CAPABILITY,
      extensions: { [SKILLS_EXTENSION]: { directoryRead: true } },
    };
    this.#scope = scope;
    this.#all = all;
    const lists = createMergedLists(scope);
    this.#listsOf = (asker) => lists(scope.view(asker));
    this.#reader = new ListReader(scope, this.#listsOf);
    this.#items = new ItemRequests(scope, this.#listsOf, this.#reader);
    this.#skills = new SkillRequests(scope, this.#items);
    this.#tasks = new TaskRequests({
      tasks: scope.tasks,
      clock: scope.clock,
      cursors: scope.cursors,
      supportOf: (name, asker) => this.taskSupport(name, asker),
    });
  }

  /** Loads the servers' instructions from the disk cache. Starts no server. */
  prepare(origin: Origin): Promise<void> {
    return this.#scope.view(origin).loadCached();
  }

  extensions(origin: Origin): Readonly<Record<string, unknown>> {
    return allExtensions(this.#scope, origin);
  }

  instructions(asker: Asker): string {
    return mergedInstructions(this.#scope, this.#scope.view(asker), asker);
  }

  tool(name: string, asker: Asker): Raw | undefined {
    return this.listed(name, asker)?.definition;
  }

  listed(name: string, asker: Asker): Tool | undefined {
    return this.#listsOf(asker).tools.list.get(name);
  }

  lists(asker: Asker): Required<ListStates> {
    const { tools, prompts, resources, templates, skills } = this.#listsOf(asker);
    return {
      tools: tools.state,
      prompts: prompts.state,
      resources: resources.state,
      templates: templates.state,
      skills: skills.state,
    };
  }

  loadMissing(origin: Origin): void {
    for (const list of LISTS.values()) void this.#reader.loadMissing(list, origin);
  }

  notified(...[method, params, origin]: Parameters<NonNullable<Surface["notified"]>>): void {
    if (this.#scope.specs().size === 1) this.#scope.notify(origin, method, params);
    else passOn(this.#scope, method, params, origin);
  }

  /**
   * Whether the definitions of all tools have at most this many bytes. False if the tools of a server are not
   * known.
   */
  async isSmall(origin: Origin, bytes: number): Promise<boolean> {
    const unknown = await this.#reader.loadMissingOwnTools(origin);
    return unknown.length === 0 && this.#listsOf(origin).tools.list.bytes <= bytes;
  }

  handle(request: ClientRequest): Promise<Raw> {
    return this.#tasks.answer(request, (inner) => this.answer(inner)) ?? this.answer(request);
  }

  /** Answers a request that creates no task. */
  answer(request: ClientRequest): Promise<Raw> {
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
      case "skills/get":
        return this.#skills.get(request);
      case "resources/directory/read":
        return this.#skills.readFolder(request);
      case "completion/complete":
        return this.#items.complete(request);
      case "logging/setLevel":
        return passThrough(this.#scope, request);
    }
    const [only, ...others] = this.#scope.specs().keys();
    if (only === undefined || others.length > 0) return passThrough(this.#scope, request);
    return this.#forwardOther(request, only);
  }

  /** A method that we do not know is used and recorded like a tool of that name, which declares nothing. */
  #forwardOther(request: ClientRequest, server: string): Promise<Raw> {
    const { method, params = EMPTY_OBJECT, origin } = request;
    const target = { server, tool: method, args: params, method: "other" } as const;
    return recorded(this.#scope, target, request, (inner) =>
      this.#scope.permits(server, method, origin)
        ? this.#items.forward(inner, server, params, { repeat: "unknown" })
        : passThrough(this.#scope, inner),
    );
  }

  /** Tools of stateless servers do not declare task support: the server decides with each call. */
  taskSupport(name: string, asker: Asker): TaskSupport | undefined {
    const tool = this.#listsOf(asker).tools.list.get(name);
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
    const { tools } = this.#listsOf(origin);
    const send = (tool: Tool | undefined, inner: ClientRequest): Promise<Raw> => {
      if (!tool) throw this.#unknown(name, inner, tools);
      const { server, name: own } = tool;
      const call = { server, tool: own, args, meta, written: others ? params : undefined };
      return callTool(this.#scope, call, inner).then((result) => {
        this.#scope.results.links.noteAll(callerOf(request.origin), server, result);
        return this.#withPage(result, tool, origin);
      });
    };
    // Reads the list again: `tools` may still contain a tool that was denied while the call waited.
    const failed = (error: unknown): Raw => this.#failed(name, error, this.#listsOf(origin).tools);
    const known = tools.list.get(name);
    const awaited = (): Promise<Raw> =>
      recorded(this.#scope, { server: "", tool: name, args }, request, (inner) =>
        awaitNamed(this.#scope, { kind: "tools", name, merged: tools }, inner, (tool) => send(tool, inner)),
      ).catch(failed);
    if (!known) return appCall({ scope: this.#all, otherwise: awaited }, request);
    const sent = (): Promise<Raw> => {
      try {
        return send(known, request).catch(failed);
      } catch (error) {
        return Promise.resolve(failed(error));
      }
    };
    if (!this.#judgesApps || !concernsApps(name, known, origin)) return sent();
    return appCall({ scope: this.#all, listed: known, otherwise: sent }, request);
  }

  /** A result may name another page than its tool, or one although its tool names none. */
  #withPage(result: Raw, { server, definition }: Tool, origin: Origin): Raw {
    const isNamed = pageOf(definition) !== undefined;
    if (!isNamed && !knowsApps(origin.capabilities)) return result;
    const shown = withOwnPage(result, server);
    if (isNamed || shown !== result) this.#scope.results.links.notePage(callerOf(origin), server);
    return shown;
  }

  #unknown(name: string, { origin, trail }: ClientRequest, { list }: MergedLists["tools"]): Error {
    const quarantined = quarantinedName(this.#scope, name, origin);
    if (quarantined) return quarantined;
    if (trail) trail.code = "tool_not_found";
    return unknownName("tool", name, list);
  }

  /** A tool that was removed after it was listed is reported as unknown. */
  #failed(name: string, error: unknown, { list }: MergedLists["tools"]): Raw {
    const gone = MetaMcpError.is(error) && error.code === "tool_not_found";
    const reported = gone ? unknownName("tool", name, list) : error;
    return asResult(this.#scope.log, reported, "meta");
  }
}
