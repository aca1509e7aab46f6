/** Refuses overrides that give two tools of one server the same name in a namespace. */

import { type FieldProblem, pointer } from "../kernel/field-problem.ts";
import type { StoredObject } from "./objects.ts";
import { Refusal } from "./refusal.ts";

/** The names of the tools that a server lists; undefined if they are unknown. */
export type ListedTools = (server: string) => Iterable<string> | undefined;

type Namespace = Pick<StoredObject<"namespace">, "kind" | "uuid" | "name" | "spec">;

interface Collision {
  readonly problem: FieldProblem;
  readonly key: string;
}

/**
 * Throws if `after` has a collision that `before` did not have. A collision may also come from tools that the
 * child added later; that is not the fault of this change.
 */
export function refuseCollisions(after: Namespace, before: Namespace | undefined, listed: ListedTools): void {
  const found = collisionsIn(after, listed);
  if (found.length === 0) return;
  const known = new Set(before && collisionsIn(before, listed).map(({ key }) => key));
  const errors = found.filter(({ key }) => !known.has(key)).map(({ problem }) => problem);
  const [first] = errors;
  if (first)
    throw new Refusal("collision", `In namespace "${after.name}" ${first.path} ${first.message}`, { errors });
}

function collisionsIn({ spec }: Namespace, listed: ListedTools): readonly Collision[] {
  const holders = new Map<string, Map<string, string>>();
  const ruled = new Map<string, Set<string>>();
  const collisions: Collision[] = [];
  const collide = (at: number, server: string, tool: string, other: string): void => {
    const name = spec.tools[at]?.name ?? tool;
    const message = `collides: the tool "${other}" of the same server is also named "${name}"`;
    const path = pointer("", "tools", at, "name");
    collisions.push({ problem: { path, message }, key: JSON.stringify([server, tool, other, name]) });
  };
  for (const [at, { server, tool, name = tool }] of spec.tools.entries()) {
    const names = holders.get(server) ?? new Map<string, string>();
    holders.set(server, names);
    ruled.set(server, (ruled.get(server) ?? new Set()).add(tool));
    const other = names.get(name);
    if (other === undefined) names.set(name, tool);
    else collide(at, server, tool, other);
  }
  const names = new Map<string, ReadonlySet<string>>();
  for (const [at, { server, tool, name }] of spec.tools.entries()) {
    // A listed tool without a rule keeps its own name.
    if (name === undefined || name === tool || ruled.get(server)?.has(name)) continue;
    const own = names.get(server) ?? new Set(listed(server));
    names.set(server, own);
    if (own.has(name)) collide(at, server, tool, name);
  }
  return collisions;
}
