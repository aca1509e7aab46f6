/** The tools of all servers under the names that the aggregate surface gives them, for whoever shows them otherwise. */
import type { Tool } from "../../catalog/tool.ts";
import type { Origin } from "../../kernel/call.ts";
import type { Asker } from "../../kernel/list-key.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { awaitNamed } from "./await-named.ts";
import { ListReader } from "./list-reader.ts";
import { createShelves, type MergedList } from "./merged-list.ts";
import { quarantinedName } from "./unknown-name.ts";

export class PublicTools {
  readonly #scope: Scope;
  readonly #shelfOf: (asker: Asker) => MergedList<Tool>;
  readonly #reader: ListReader;

  constructor(scope: Scope) {
    const shelves = createShelves(scope);
    this.#scope = scope;
    this.#shelfOf = (asker) => shelves(scope.view(asker)).tools;
    this.#reader = new ListReader(scope, (asker) => shelves(scope.view(asker)));
  }

  /** Waits a moment for servers that nothing is known of. */
  async learn(origin: Origin): Promise<void> {
    await this.#reader.learn("tools", origin);
  }

  all(asker: Asker): readonly (readonly [string, Tool])[] {
    const { list } = this.#shelfOf(asker);
    return [...list.names()].flatMap((name) => {
      const tool = list.get(name);
      return tool ? [[name, tool] as const] : [];
    });
  }

  /** Runs `use` with the tool of that name, and waits for servers that could have it; undefined where nobody has it. */
  async use(
    name: string,
    request: ClientRequest,
    use: (tool: Tool | undefined) => Promise<Raw>,
  ): Promise<Raw> {
    const shelf = this.#shelfOf(request.origin);
    const known = shelf.list.get(name);
    if (known) return await use(known);
    return await awaitNamed(this.#scope, { kind: "tools", name, shelf }, request, (tool) => {
      const kept = tool ? undefined : quarantinedName(this.#scope, name, request.origin);
      if (kept) throw kept;
      return use(tool);
    });
  }
}
