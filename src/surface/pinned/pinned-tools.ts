/**
 * Tools that a surface lists in full beside its own ones, under the names of the aggregate surface. They are
 * called by these names on the path of that surface, so the same rules apply. Loads nothing while no tool is
 * pinned.
 */
import { joinArray } from "../../catalog/json-array.ts";
import type { Tool } from "../../catalog/tool.ts";
import type { Origin, TaskSupport } from "../../kernel/call.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { EMPTY_OBJECT, type Raw } from "../../kernel/raw.ts";
import { writeToolId } from "../../kernel/tool-id.ts";
import { elements, member, withMember } from "../../rpc/slice.ts";
import { concernsApps } from "../app-tools.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest, ListState } from "../surface.ts";
import type { PinnedSurface } from "./pinned-surface.ts";

const NONE: ListState = { version: "", complete: true };

/** What answers a call of a name that no known pinned tool has. */
export interface Otherwise {
  /** Answers a call of an app; all others go on to `otherwise`. */
  readonly app: (otherwise: () => Promise<Raw>, listed?: Tool) => Promise<Raw>;
  readonly unknown: () => never;
}

export class PinnedTools {
  readonly #scope: Scope;
  readonly #joined = new WeakMap<Raw, Raw>();
  #surface: PinnedSurface | undefined;

  /** `scope` has the tools that are hidden from models. */
  constructor(scope: Scope) {
    this.#scope = scope;
  }

  get any(): boolean {
    return this.#scope.pinned().length > 0;
  }

  async prepare(origin: Origin): Promise<void> {
    if (this.any) await (await this.#load()).prepare(origin);
  }

  /** The answer to `tools/list`: `own`, and the pinned tools after them. */
  async list(request: ClientRequest, own: Raw): Promise<Raw> {
    const pinned = await (await this.#load()).handle(request);
    // A further page.
    if (request.params && member(request.params, "cursor")) return pinned;
    let whole = this.#joined.get(pinned);
    if (!whole) {
      const tools = [own, pinned].flatMap((list) => elements(member(list, "tools") ?? EMPTY_OBJECT));
      whole = withMember(pinned, "tools", joinArray(tools));
      this.#joined.set(pinned, whole);
    }
    return whole;
  }

  /** The state of the whole list, because the other tools in it do not change. */
  state(asker: Asker): ListState {
    if (!this.any) return NONE;
    if (this.#surface) return this.#surface.lists(asker).tools;
    // The first tools were pinned after the client came. It is told, and asks for the list.
    return { version: this.#scope.pinned().map(writeToolId).join("\n"), complete: true };
  }

  tool(name: string, asker: Asker): Raw | undefined {
    return this.any ? this.#surface?.tool(name, asker) : undefined;
  }

  /** Whether it can run as a task; undefined while that is not known. */
  taskSupport(name: string, asker: Asker): TaskSupport | undefined {
    if (!this.any) return "forbidden";
    const support = this.#surface?.taskSupport(name, asker);
    return support ?? (this.#surface?.mayHave(name) === false ? "forbidden" : undefined);
  }

  loadMissing(origin: Origin): void {
    if (this.any) void this.#load().then((surface) => surface.loadMissing(origin));
  }

  async call(name: string, request: ClientRequest, { app, unknown }: Otherwise): Promise<Raw> {
    const surface = this.any ? await this.#load() : undefined;
    const listed = surface?.listed(name, request.origin);
    if (surface && listed) {
      const answer = (): Promise<Raw> => surface.answer(request);
      return concernsApps(name, listed, request.origin) ? await app(answer, listed) : await answer();
    }
    return await app(async () => (surface?.mayHave(name) ? await surface.answer(request) : unknown()));
  }

  async #load(): Promise<PinnedSurface> {
    const { PinnedSurface } = await import("./pinned-surface.ts");
    this.#surface ??= new PinnedSurface(this.#scope);
    return this.#surface;
  }
}
