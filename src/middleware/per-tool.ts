/**
 * Caches a result per tool. Facts are the same object until the tool or its server changes, so they are the
 * key of a WeakMap.
 */
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
