/**
 * Changes the rules of many tools in a namespace at once. Rules of other tools stay as they are, even if
 * somebody else changed them meanwhile.
 */

import { type FieldProblem, pointer } from "../kernel/field-problem.ts";
import { type ChangeOptions, type ObjectOutcome, patch } from "./changes.ts";
import { mergePatch } from "./merge-patch.ts";
import { find, finderOf } from "./names.ts";
import type { Objects } from "./objects.ts";
import { invalid, Refusal } from "./refusal.ts";
import type { ToolOverride } from "./schemas.ts";
import type { ChangeContext } from "./settle.ts";

/** A merge patch for the rule of one tool: null removes a field, `reset` removes the whole rule. */
export interface ToolSetting {
  readonly server: string;
  readonly tool: string;
  readonly reset?: boolean;
  readonly [field: string]: unknown;
}

export function setTools(
  objects: Objects,
  { namespace, ...options }: { readonly namespace: string } & ChangeOptions,
  settings: readonly ToolSetting[],
  context: ChangeContext,
): ObjectOutcome<"namespace"> {
  const stored = find(objects.namespace, namespace);
  if (!stored) throw new Refusal("not_found", `There is no namespace "${namespace.slice(0, 128)}"`);
  const { tools, newTools } = stored.spec;
  const rules = new Map(tools.map((rule) => [keyOf(rule), rule as Readonly<Record<string, unknown>>]));
  const uuidOf = finderOf(objects.server);
  const unknown: FieldProblem[] = [];
  for (const [at, { reset = false, ...setting }] of settings.entries()) {
    const server = uuidOf(setting.server)?.uuid;
    if (server === undefined) {
      unknown.push({ path: pointer("", "set", at, "server"), message: "names no server" });
      continue;
    }
    const key = keyOf({ server, tool: setting.tool });
    const rule = reset ? { server, tool: setting.tool } : rules.get(key);
    const merged = mergePatch(rule, { ...setting, server }) as Readonly<Record<string, unknown>>;
    if (isRedundant(merged, { newTools, reset })) rules.delete(key);
    else rules.set(key, merged);
  }
  if (unknown.length > 0) throw invalid(unknown);
  const at = { kind: "namespace" as const, reference: stored.uuid, ...options };
  return patch(objects, at, { tools: [...rules.values()] }, context);
}

/** Whether the rule can be dropped. With `newTools: "disabled"` even an empty rule enables the tool. */
function isRedundant(
  { server: _s, tool: _t, disabled = false, ...rest }: Readonly<Record<string, unknown>>,
  { newTools, reset }: { readonly newTools: "enabled" | "disabled"; readonly reset: boolean },
): boolean {
  return disabled === false && Object.keys(rest).length === 0 && (newTools === "enabled" || reset);
}

function keyOf({ server, tool }: Pick<ToolOverride, "server" | "tool">): string {
  return JSON.stringify([server, tool]);
}
