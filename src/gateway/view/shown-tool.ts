/** A tool as a namespace shows it: the definition of the child with the overridden members replaced. */
import { readTool } from "../../catalog/read-tool.ts";
import type { Tool } from "../../catalog/tool.ts";
import { EMPTY_OBJECT, type Raw, toRaw } from "../../kernel/raw.ts";
import { isObject, member, withMember } from "../../rpc/slice.ts";
import type { ToolOverride } from "../schemas.ts";
import { argumentsOf, shownSchema } from "./arguments.ts";

const made = new WeakMap<Tool, WeakMap<ToolOverride, Tool>>();

/** Returns the tool itself if the rule changes nothing, and the same object for the same tool and rule. */
export function shownTool(tool: Tool, rule: ToolOverride | undefined): Tool {
  if (!rule) return tool;
  const byRule = made.get(tool) ?? new WeakMap<ToolOverride, Tool>();
  made.set(tool, byRule);
  let shown = byRule.get(rule);
  if (!shown) {
    const definition = overridden(tool, rule);
    shown = definition === tool.definition ? tool : (readTool(tool.server, definition) ?? tool);
    byRule.set(rule, shown);
  }
  return shown;
}

function overridden({ name: own, definition, inputSchema }: Tool, rule: ToolOverride): Raw {
  const { name, title, description, annotations } = rule;
  let written = definition;
  if (name !== undefined && name !== own) written = withMember(written, "name", toRaw(name));
  if (title !== undefined) written = withMember(written, "title", toRaw(title));
  if (description !== undefined) written = withMember(written, "description", toRaw(description));
  if (annotations) written = withMember(written, "annotations", merged(written, annotations));
  const set = argumentsOf(rule);
  return set.length === 0 ? written : withMember(written, "inputSchema", shownSchema(inputSchema, set));
}

/** Annotations that are not overridden stay those of the child. */
function merged(definition: Raw, annotations: object): Raw {
  const own = member(definition, "annotations");
  let written = own && isObject(own) ? own : EMPTY_OBJECT;
  for (const [hint, value] of Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1)))
    written = withMember(written, hint, toRaw(value));
  return written;
}
