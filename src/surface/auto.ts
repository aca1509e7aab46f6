/** The auto surface: all tools while they are few, else the meta surface. Decides once, at the first list; each session has its own. */
import type { Origin } from "../kernel/call.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";
import { members } from "../rpc/slice.ts";
import type { AggregateFace } from "./aggregate/aggregate.ts";
import type { ClientRequest, Face, ListStates } from "./face.ts";
import { isMetaTool } from "./meta/meta.ts";

/** Definitions of all tools, in bytes: beyond this, finding them is cheaper than showing them. */
const SMALL = 8_000;

/** A client that was promised prompts and resources gets empty lists of them, not errors. */
const NOTHING: ReadonlyMap<string, Raw> = new Map([
  ["prompts/list", toRaw({ prompts: [] })],
  ["resources/list", toRaw({ resources: [] })],
  ["resources/templates/list", toRaw({ resourceTemplates: [] })],
]);

const LISTS: ReadonlySet<string> = new Set(["tools/list", ...NOTHING.keys()]);

export class AutoFace implements Face {
  readonly capabilities: Face["capabilities"];
  readonly #meta: Face;
  readonly #aggregate: AggregateFace;
  #decision: Promise<Face> | undefined;
  #decided: Face | undefined;

  constructor(meta: Face, aggregate: AggregateFace) {
    this.#meta = meta;
    this.#aggregate = aggregate;
    this.capabilities = aggregate.capabilities;
  }

  prepare(): Promise<void> {
    return this.#aggregate.prepare();
  }

  /** Asked for before anything is decided. */
  instructions(): string {
    return `Either all tools are listed here, or, where they are too many, tools to find and call them:\n${this.#meta.instructions()}`;
  }

  lists(): ListStates {
    return this.#decided === this.#aggregate ? this.#aggregate.lists() : {};
  }

  tool(name: string): Raw | undefined {
    return this.#decided === this.#meta ? undefined : this.#aggregate.tool(name);
  }

  learn(origin: Origin): void {
    if (this.#decided === this.#aggregate) this.#aggregate.learn(origin);
  }

  notified(...about: Parameters<NonNullable<Face["notified"]>>): void {
    this.#meta.notified?.(...about);
  }

  handle(request: ClientRequest): Promise<Raw> {
    if (LISTS.has(request.method)) return this.#list(request);
    return (this.#decided ?? this.#faceFor(request)).handle(request);
  }

  async #list(request: ClientRequest): Promise<Raw> {
    this.#decision ??= this.#decide(request);
    const face = await this.#decision;
    try {
      return await face.handle(request);
    } catch (error) {
      const nothing = face === this.#meta ? NOTHING.get(request.method) : undefined;
      if (nothing && error instanceof RpcError && error.code === METHOD_NOT_FOUND) return nothing;
      throw error;
    }
  }

  async #decide(request: ClientRequest): Promise<Face> {
    const small = await this.#aggregate.isSmall(request, SMALL);
    this.#decided = small ? this.#aggregate : this.#meta;
    return this.#decided;
  }

  /** Before the first list a client can know names of tools only from elsewhere. */
  #faceFor({ method, params }: ClientRequest): Face {
    const [name] = method === "tools/call" && params ? members(params, ["name"]) : [];
    return name && isMetaTool(fromRaw(name)) ? this.#meta : this.#aggregate;
  }
}
