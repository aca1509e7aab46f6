/** What a layer finds out of a tool, once: facts stay the same object until the tool or its server is another, and take it with them when they go. */
import type { ToolFacts } from "../kernel/tool-facts.ts";

export function perTool<T>(find: (tool: ToolFacts) => T): (tool: ToolFacts) => T {
  const known = new WeakMap<ToolFacts, T>();
  return (tool) => {
    let found = known.get(tool);
    if (found === undefined) {
      found = find(tool);
      known.set(tool, found);
    }
    return found;
  };
}
