/**
 * The tools of all servers under the names of the aggregate surface, for views other than MCP lists (e.g.
 * OpenAPI).
 */
import type { Tool } from "../../catalog/tool.ts";
import type { Origin } from "../../kernel/call.ts";
import type { Asker } from "../../kernel/list-key.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { awaitNamed } from "./await-named.ts";
import { ListReader } from "./list-reader.ts";
import { createMergedLists, type MergedList } from "./merged-list.ts";
import { quarantinedName } from "./unknown-name.ts";

export class PublicTools {
  readonly #scope: Scope;
  readonly #toolsOf: (asker: Asker) => MergedList<Tool>;
  readonly #reader: ListReader;

  constructor(scope: Scope) {
    const lists = createMergedLists(scope);
    this.#scope = scope;
    this.#toolsOf = (asker) => lists(scope.view(asker)).tools;
    this.#reader = new ListReader(scope, (asker) => lists(scope.view(asker)));
  }

  /** Waits a short time for servers whose tools are not known. */
  async loadMissing(origin: Origin): Promise<void> {
    await this.#reader.loadMissing("tools", origin);
  }

  all(asker: Asker): readonly (readonly [string, Tool])[] {
    const { list } = this.#toolsOf(asker);
    return [...list.names()].flatMap((name) => {
      const tool = list.get(name);
      return tool ? [[name, tool] as const] : [];
    });
  }

  /**
   * Runs `use` with the tool of that name, after waiting for servers that may have it. `use` gets undefined
   * if no server has it.
   */
  async use(
    name: string,
    request: ClientRequest,
    use: (tool: Tool | undefined) => Promise<Raw>,
  ): Promise<Raw> {
    const merged = this.#toolsOf(request.origin);
    const known = merged.list.get(name);
    if (known) return await use(known);
    return await awaitNamed(this.#scope, { kind: "tools", name, merged }, request, (tool) => {
      const quarantined = tool ? undefined : quarantinedName(this.#scope, name, request.origin);
      if (quarantined) throw quarantined;
      return use(tool);
    });
  }
}
