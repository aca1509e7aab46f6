/**
 * Checks the order of layers in the pipelines of all endpoints. A pipeline consists of four lists: gateway,
 * endpoint, namespace and server.
 */

import type { FieldProblem } from "../kernel/field-problem.ts";
import type { LayerOrder } from "./accept.ts";
import type { Objects, StoredObject } from "./objects.ts";

type Owner = StoredObject | undefined;

/** The path of a problem is that of the whole list, because several objects cause it. */
export function orderProblems(objects: Objects, order: LayerOrder): readonly FieldProblem[] {
  if (!hasAnswering(objects, order)) return [];
  const [settings] = objects.settings.values();
  const found = new Map<string, FieldProblem>();
  for (const endpoint of objects.endpoint.values())
    for (const uuid of endpoint.spec.namespaces) {
      const namespace = objects.namespace.get(uuid);
      for (const { server } of namespace?.spec.servers ?? [])
        for (const problem of problemsOf([settings, endpoint, namespace, objects.server.get(server)], order))
          found.set(problem.message, problem);
    }
  return [...found.values()];
}

function problemsOf(owners: readonly Owner[], order: LayerOrder): readonly FieldProblem[] {
  const placed = owners.flatMap((owner) =>
    (owner?.spec.middleware ?? []).map((entry) => ({ entry, owner: nameOf(owner) })),
  );
  return order.checkOrder(placed.map(({ entry }) => entry)).map(({ at, message }) => ({
    path: "/middleware",
    message: `"${placed[at]?.entry.use}" of ${placed[at]?.owner} ${message}`,
  }));
}

function nameOf(owner: Owner): string {
  return owner === undefined || owner.kind === "settings" ? "the gateway" : `${owner.kind} "${owner.name}"`;
}

/** Most gateways have no such layer, and then there is nothing to walk through. */
function hasAnswering({ settings, endpoint, namespace, server }: Objects, order: LayerOrder): boolean {
  return [settings, endpoint, namespace, server].some((objects) =>
    [...(objects as ReadonlyMap<string, StoredObject>).values()].some(({ spec }) =>
      spec.middleware.some(({ use }) => order.answers(use)),
    ),
  );
}
